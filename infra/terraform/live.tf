# Users get a version after it has answered like the API: Terraform invokes it with events as the gateway sends
# them, and moves the alias `live`, which the gateway calls, if all answers are right. docs/adr/0025
#
# An invocation is repeated when its version changes. After a passing fault, repeat it for the same version:
# terraform apply -replace='aws_lambda_invocation.post'

locals {
  version = coalesce(var.live_version, aws_lambda_function.this.version)

  # A person per version, so that a limit per hour counts each test for itself. The domain is one that cannot
  # receive mail (RFC 2606): such an inquiry is not mailed, is not in the inbox, and expires after a day.
  test_claims = {
    sub   = uuidv5("dns", "${local.version}.${local.name}.invalid")
    email = "smoke-test-${local.version}@inquiries.invalid"
  }

  # Payload 2.0 (docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html);
  # claims are strings.
  test_event = {
    version         = "2.0"
    rawPath         = "/inquiries"
    rawQueryString  = ""
    isBase64Encoded = false
  }
  test_context = { stage = "$default", requestId = "terraform", timeEpoch = 0 }
  test_http    = { path = "/inquiries", protocol = "HTTP/1.1", sourceIp = "127.0.0.1", userAgent = "terraform" }

  test_events = {
    for name, method in { post = "POST", list = "GET", unauthorized = "GET", not_allowed = "PUT" } :
    name => jsonencode(merge(
      local.test_event,
      {
        routeKey = "${method} /inquiries"
        headers = merge(
          { "content-type" = "application/json" },
          # A repeated test stores nothing a second time.
          name == "post" ? { "idempotency-key" = "version-${local.version}" } : {},
        )
        requestContext = merge(
          local.test_context,
          { routeKey = "${method} /inquiries", http = merge(local.test_http, { method = method }) },
          name == "unauthorized" ? {} : { authorizer = { jwt = { claims = local.test_claims, scopes = null } } },
        )
      },
      name == "post" ? { body = jsonencode({ subject = "Test of version ${local.version}", body = "Sent by Terraform." }) } : {},
    ))
  }

  test_results = merge(
    { post = aws_lambda_invocation.post.result, list = aws_lambda_invocation.list.result },
    { for name, invocation in aws_lambda_invocation.refused : name => invocation.result },
  )
  # What it answered, in a form that a message can have: it contains nothing of a user's.
  test_answers = {
    for name, result in local.test_results :
    name => try("${jsondecode(result).statusCode} ${jsondecode(result).body}", result)
  }
  stored_id = try(jsondecode(jsondecode(aws_lambda_invocation.post.result).body).inquiry.id, "none")
}

resource "aws_lambda_invocation" "post" {
  function_name = aws_lambda_function.this.function_name
  qualifier     = local.version
  input         = local.test_events["post"]
}

resource "aws_lambda_invocation" "list" {
  function_name = aws_lambda_function.this.function_name
  qualifier     = local.version
  input         = local.test_events["list"]
  triggers      = { after = aws_lambda_invocation.post.id, stored = local.stored_id }
}

resource "aws_lambda_invocation" "refused" {
  for_each = toset(["unauthorized", "not_allowed"])

  function_name = aws_lambda_function.this.function_name
  qualifier     = local.version
  input         = local.test_events[each.key]
}

# What the gateway calls.
resource "aws_lambda_alias" "live" {
  name             = "live"
  function_name    = aws_lambda_function.this.function_name
  function_version = local.version

  lifecycle {
    precondition {
      condition     = startswith(local.test_answers.post, "201 ") && local.stored_id != "none"
      error_message = "Version ${local.version} is not live: it answered a POST with ${local.test_answers.post}"
    }
    precondition {
      condition     = startswith(local.test_answers.list, "200 ") && strcontains(local.test_answers.list, local.stored_id)
      error_message = "Version ${local.version} is not live: it listed ${local.test_answers.list}, without ${local.stored_id}"
    }
    precondition {
      condition     = startswith(local.test_answers.unauthorized, "401 ")
      error_message = "Version ${local.version} is not live: without claims it answered ${local.test_answers.unauthorized}"
    }
    precondition {
      condition     = startswith(local.test_answers.not_allowed, "405 ")
      error_message = "Version ${local.version} is not live: it answered a PUT with ${local.test_answers.not_allowed}"
    }
  }
}
