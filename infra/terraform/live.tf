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
  test_events = {
    for name, method in { post = "POST", list = "GET", unauthorized = "GET", not_allowed = "PUT" } :
    name => jsonencode(merge(
      {
        version         = "2.0"
        routeKey        = "${method} /inquiries"
        rawPath         = "/inquiries"
        rawQueryString  = ""
        isBase64Encoded = false
        headers = merge(
          { "content-type" = "application/json" },
          # A repeated test stores nothing a second time.
          name == "post" ? { "idempotency-key" = "version-${local.version}" } : {},
        )
        requestContext = merge(
          {
            stage     = "$default"
            routeKey  = "${method} /inquiries"
            requestId = "terraform"
            timeEpoch = 0
            http      = { method = method, path = "/inquiries", protocol = "HTTP/1.1", sourceIp = "127.0.0.1", userAgent = "terraform" }
          },
          name == "unauthorized" ? {} : { authorizer = { jwt = { claims = local.test_claims, scopes = null } } },
        )
      },
      name == "post" ? { body = jsonencode({ subject = "Test of version ${local.version}", body = "Sent by Terraform." }) } : {},
    ))
  }

  # What it answered, in a form that a message can have: it contains nothing of a user's.
  test_answers = {
    for name, invocation in merge({ post = aws_lambda_invocation.post, list = aws_lambda_invocation.list }, aws_lambda_invocation.refused) :
    name => try("${jsondecode(invocation.result).statusCode} ${jsondecode(invocation.result).body}", invocation.result)
  }
  stored_id = try(jsondecode(jsondecode(aws_lambda_invocation.post.result).body).inquiry.id, "none")

  wrong_answers = [for message, is_right in {
    "it answered a POST with ${local.test_answers.post}"               = startswith(local.test_answers.post, "201 ") && local.stored_id != "none"
    "it listed ${local.test_answers.list}, without ${local.stored_id}" = startswith(local.test_answers.list, "200 ") && strcontains(local.test_answers.list, local.stored_id)
    "without claims it answered ${local.test_answers.unauthorized}"    = startswith(local.test_answers.unauthorized, "401 ")
    "it answered a PUT with ${local.test_answers.not_allowed}"         = startswith(local.test_answers.not_allowed, "405 ")
  } : message if !is_right]
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
      condition     = length(local.wrong_answers) == 0
      error_message = "Version ${local.version} is not live: ${join("; ", local.wrong_answers)}"
    }
  }
}
