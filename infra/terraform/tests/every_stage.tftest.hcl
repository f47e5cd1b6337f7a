# Assertions for all three stages; `npm run check:infra` runs this file in each workspace. The ids in messages are policies of
# Checkov (CKV…) and Trivy (AVD-…) that the assertion checks; docs/security-policies.md lists them. everything.tftest.hcl tests the
# setting inbox, which is unset here, and the alarms.

mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"
}

# Otherwise it stops the test from removing a protected stage, which consists of mocks.
override_resource {
  target = terraform_data.guard
  values = { output = { is_protected = false, message = "" } }
}

variables {
  # Provider 5.100, the oldest one allowed, knows runtimes up to nodejs22.x and rejects others even when mocked.
  runtime             = "nodejs22.x"
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  stages = {
    for stage in ["develop", "main", "release"] : stage => {
      issuer      = "https://issuer.example.com/${stage}"
      audience    = ["client-of-${stage}", "second-client-of-${stage}"]
      cors_origin = "https://${stage}.example.com"
      alarm_email = "${stage}@example.com"
      throttling  = { rate_limit = 11, burst_limit = 22 }
      domain = {
        name            = "${stage}.api.example.com"
        certificate_arn = "arn:aws:acm:eu-central-1:111122223333:certificate/mock"
        dns             = "all"
      }
    }
  }
}

run "stage" {
  assert {
    condition = {
      name   = aws_dynamodb_table.this.name
      keys   = [aws_dynamodb_table.this.hash_key, aws_dynamodb_table.this.range_key]
      types  = { for key in aws_dynamodb_table.this.attribute : key.name => key.type }
      mode   = aws_dynamodb_table.this.billing_mode
      index  = [for index in aws_dynamodb_table.this.global_secondary_index : [index.name, index.hash_key, index.range_key, index.projection_type]]
      stream = aws_dynamodb_table.this.stream_enabled
      ttl    = [for ttl in aws_dynamodb_table.this.ttl : [ttl.enabled, ttl.attribute_name]]
      } == {
      name   = "inquiries-${terraform.workspace}"
      keys   = ["pk", "sk"]
      types  = { pk = "S", sk = "S", __edb_e__ = "S", id = "S" }
      mode   = "PAY_PER_REQUEST"
      index  = [["by-time", "__edb_e__", "id", "INCLUDE"]]
      stream = false
      ttl    = [[true, "expires_at"]]
    }
    error_message = "CKV2_AWS_16: the table has another name, other keys, another index or expiry, a stream without the setting inbox, or does not scale with the load."
  }
  assert {
    condition     = !contains(one(aws_dynamodb_table.this.global_secondary_index).non_key_attributes, "body") && !contains(one(aws_dynamodb_table.this.global_secondary_index).non_key_attributes, "reply")
    error_message = "The index stores texts a second time."
  }
  assert {
    condition = alltrue([
      for table in [aws_dynamodb_table.this, aws_dynamodb_table.erasures] :
      table.point_in_time_recovery[0].enabled && table.point_in_time_recovery[0].recovery_period_in_days == 35
    ])
    error_message = "CKV_AWS_28, AVD-AWS-0024: a table cannot be restored to a point in time of the last 35 days."
  }
  assert {
    condition = (
      aws_dynamodb_table.erasures.name == "inquiries-${terraform.workspace}-erasures"
      && aws_dynamodb_table.erasures.billing_mode == "PAY_PER_REQUEST"
      && aws_dynamodb_table.erasures.hash_key == "hash"
      && aws_dynamodb_table.erasures.range_key == null
      && { for key in aws_dynamodb_table.erasures.attribute : key.name => key.type } == { hash = "S" }
      && length(aws_dynamodb_table.erasures.ttl) == 0
    )
    error_message = "The table of erasures is not one that keeps a record per hash for ever."
  }
  assert {
    condition = alltrue([
      for table in [aws_dynamodb_table.this, aws_dynamodb_table.erasures] : table.deletion_protection_enabled == (terraform.workspace != "develop")
    ])
    error_message = "The tables of main and release can be deleted, or those of develop cannot."
  }
  assert {
    condition = {
      name     = aws_lambda_function.this.function_name
      memory   = aws_lambda_function.this.memory_size
      timeout  = aws_lambda_function.this.timeout
      handler  = aws_lambda_function.this.handler
      platform = one(aws_lambda_function.this.architectures)
      runtime  = aws_lambda_function.this.runtime
      hash     = aws_lambda_function.this.source_code_hash
      tracing  = aws_lambda_function.this.tracing_config[0].mode
      settings = aws_lambda_function.this.environment[0].variables
      log      = [for log in aws_lambda_function.this.logging_config : [log.log_format, log.log_group, log.application_log_level, log.system_log_level]]
      } == {
      name     = "inquiries-${terraform.workspace}"
      memory   = 128
      timeout  = 30
      handler  = "handler.handler"
      platform = "arm64"
      runtime  = var.runtime
      hash     = filebase64sha256("versions.tf")
      tracing  = "Active"
      settings = tomap({ TABLE_NAME = "inquiries-${terraform.workspace}", CORS_ORIGIN = "https://${terraform.workspace}.example.com" })
      log      = [["JSON", aws_cloudwatch_log_group.function.name, "INFO", "INFO"]]
    }
    error_message = "CKV_AWS_45, CKV_AWS_50, CKV_AWS_363, AVD-AWS-0066: the function is not the built package on arm64 with its name, 128 MB, 30 s, traces, JSON logs with report lines, and no settings but the table's name and the origin."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_role_policy.function.policy).Statement) == jsonencode([
      { Sid = "Inquiries", Effect = "Allow", Action = ["dynamodb:PutItem", "dynamodb:Query"], Resource = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock" },
      { Sid = "Logs", Effect = "Allow", Action = ["logs:CreateLogStream", "logs:PutLogEvents"], Resource = "arn:aws:logs:eu-central-1:111122223333:log-group:mock:*" },
      { Sid = "Traces", Effect = "Allow", Action = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"], Resource = "*" },
    ])
    error_message = "CKV_AWS_62, CKV_AWS_63, CKV_AWS_286, CKV_AWS_287, CKV_AWS_288, CKV_AWS_289, CKV_AWS_290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345: the function has permissions other than to put and query inquiries and to write logs and traces."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_role.function.assume_role_policy).Statement) == jsonencode([
      { Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } },
    ])
    error_message = "CKV_AWS_60, CKV_AWS_61: the function's role can be assumed by others than Lambda."
  }
  assert {
    condition = {
      for log in [aws_cloudwatch_log_group.function, aws_cloudwatch_log_group.access] : log.name => log.retention_in_days
      } == {
      "/aws/lambda/inquiries-${terraform.workspace}"                = 30
      "/aws/vendedlogs/apigateway/inquiries-${terraform.workspace}" = 30
    }
    error_message = "CKV_AWS_66: a log group has another retention, or not the name that tools expect."
  }
  assert {
    condition = {
      for route in aws_apigatewayv2_route.this : route.route_key => [route.authorization_type, route.authorizer_id, route.target]
      } == {
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] :
      "${method} /inquiries" => ["JWT", aws_apigatewayv2_authorizer.this.id, "integrations/${aws_apigatewayv2_integration.this.id}"]
    }
    error_message = "CKV_AWS_309, AVD-AWS-0004: the routes are not the six methods of /inquiries, without OPTIONS and ANY, or one has no JWT authorizer or another integration."
  }
  assert {
    condition = (
      aws_apigatewayv2_authorizer.this.authorizer_type == "JWT"
      && one(aws_apigatewayv2_authorizer.this.identity_sources) == "$request.header.Authorization"
      && aws_apigatewayv2_authorizer.this.jwt_configuration[0].issuer == "https://issuer.example.com/${terraform.workspace}"
      && aws_apigatewayv2_authorizer.this.jwt_configuration[0].audience == toset(["client-of-${terraform.workspace}", "second-client-of-${terraform.workspace}"])
    )
    error_message = "The authorizer does not check the stage's issuer and audience in the Authorization header."
  }
  assert {
    condition = (
      aws_apigatewayv2_integration.this.integration_type == "AWS_PROXY"
      && aws_apigatewayv2_integration.this.payload_format_version == "2.0"
      && aws_apigatewayv2_integration.this.integration_uri == aws_lambda_alias.live.invoke_arn
      && aws_lambda_alias.live.function_version == aws_lambda_function.this.version
      && aws_apigatewayv2_integration.this.timeout_milliseconds == 30000
    )
    error_message = "The integration is not the alias of the function with payload 2.0 and its 30 s."
  }
  assert {
    condition = (
      toset(aws_apigatewayv2_integration.this.response_parameters[*].status_code) == toset(["200", "201"])
      && alltrue([
        for parameters in aws_apigatewayv2_integration.this.response_parameters :
        parameters.mappings == tomap({ "overwrite:header.cache-control" = "no-store" })
      ])
    )
    error_message = "Responses with inquiries may be cached."
  }
  assert {
    condition = {
      for permission in aws_lambda_permission.live : permission.source_arn => [permission.principal, permission.action, permission.qualifier]
      } == {
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] :
      "arn:aws:execute-api:eu-central-1:111122223333:mockapi/*/${method}/inquiries" => ["apigateway.amazonaws.com", "lambda:InvokeFunction", aws_lambda_alias.live.name]
    }
    error_message = "CKV_AWS_301, CKV_AWS_364, AVD-AWS-0067: the permission to invoke is not limited to the gateway and its routes."
  }
  assert {
    condition     = aws_apigatewayv2_api.this.protocol_type == "HTTP"
    error_message = "CKV2_AWS_51: the API is not an HTTP API, whose stages have no client certificates."
  }
  assert {
    condition = (
      aws_apigatewayv2_api.this.cors_configuration[0].allow_origins == toset(["https://${terraform.workspace}.example.com"])
      && aws_apigatewayv2_api.this.cors_configuration[0].allow_methods == toset(["GET", "POST", "PUT", "DELETE", "OPTIONS"])
      && aws_apigatewayv2_api.this.cors_configuration[0].allow_headers == toset(["authorization", "content-type", "idempotency-key"])
      && aws_apigatewayv2_api.this.cors_configuration[0].expose_headers == toset(["Link", "Idempotency-Replayed", "Retry-After"])
      && aws_apigatewayv2_api.this.cors_configuration[0].allow_credentials != true
      && aws_apigatewayv2_api.this.cors_configuration[0].max_age == 3600
    )
    error_message = "CORS is not limited to the stage's origin and the contract's methods and headers, or browsers do not keep the answer to a preflight for an hour."
  }
  assert {
    condition = {
      name     = aws_apigatewayv2_stage.this.name
      deployed = aws_apigatewayv2_stage.this.auto_deploy
      limits   = [for route in aws_apigatewayv2_stage.this.default_route_settings : [route.throttling_rate_limit, route.throttling_burst_limit]]
      log      = aws_apigatewayv2_stage.this.access_log_settings[0].destination_arn
      } == {
      name     = "$default"
      deployed = true
      limits   = [[11, 22]]
      log      = aws_cloudwatch_log_group.access.arn
    }
    error_message = "CKV_AWS_76, AVD-AWS-0001: a changed route would not be deployed, the path would have a prefix, every call would be a 429, or the gateway has no access log."
  }
  assert {
    condition = alltrue([
      for field in values(jsondecode(aws_apigatewayv2_stage.this.access_log_settings[0].format)) :
      !can(regex("identity|claims|principal|context\\.path|domainName|[hH]eader|[qQ]uery", field))
    ])
    error_message = "The access log would contain personal data."
  }
  assert {
    condition = length(setsubtract(
      ["requestId", "routeKey", "status", "responseLatency", "functionRequestId", "authorizerError", "integrationError"],
      keys(jsondecode(aws_apigatewayv2_stage.this.access_log_settings[0].format))
    )) == 0
    error_message = "The access log lacks a field that the dashboard or the runbook uses."
  }
  assert {
    condition     = one(values(aws_apigatewayv2_domain_name.this)).domain_name_configuration[0].security_policy == "TLS_1_2"
    error_message = "AVD-AWS-0005, CKV_AWS_206: the custom domain accepts TLS below 1.2."
  }
  assert {
    condition     = one(values(aws_apigatewayv2_api_mapping.this)).stage == aws_apigatewayv2_stage.this.id
    error_message = "The custom domain is not mapped to the stage."
  }
  assert {
    condition     = local.tags == { service = "inquiries", stage = terraform.workspace, managed_by = "terraform" }
    error_message = "The resources do not have the tags by which costs are told apart."
  }
  assert {
    condition = {
      stage     = output.stage
      url       = output.api_url
      origin    = output.cors_origin
      dashboard = split("#", output.dashboard_url)[1]
      records   = length(output.dns_records)
      only      = aws_apigatewayv2_api.this.disable_execute_api_endpoint
      } == {
      stage     = terraform.workspace
      url       = "https://${terraform.workspace}.api.example.com"
      origin    = "https://${terraform.workspace}.example.com"
      dashboard = "dashboards/dashboard/inquiries-${terraform.workspace}"
      records   = 0
      only      = true
    }
    error_message = "An output has another value, or a domain that is in use is not the only way to the API."
  }
  assert {
    condition = alltrue([for resources in [
      aws_lambda_function.mailer, aws_iam_role.mailer, aws_iam_role_policy.mailer, aws_lambda_event_source_mapping.mailer,
      aws_cloudwatch_log_group.mailer, aws_sqs_queue.dead_letters, aws_sqs_queue_policy.dead_letters,
    ] : length(resources) == 0]) && length(aws_sesv2_email_identity.this) == 0
    error_message = "There is a resource for mail without the setting inbox."
  }
  assert {
    condition     = output.dead_letter_queue_url == null && length(output.mail_dns_records) == 0
    error_message = "An output names a resource for mail without the setting inbox."
  }
  assert {
    condition     = !contains([for statement in jsondecode(aws_iam_policy.inbox.policy).Statement : statement.Sid], "SendAgain")
    error_message = "Operators may invoke a mailer that does not exist."
  }
  assert {
    condition     = length(aws_route53_health_check.form) + length(aws_cloudwatch_metric_alarm.form) + length(aws_sns_topic.form) == 0
    error_message = "A form that this stage does not serve is watched."
  }
  assert {
    condition     = length(aws_cloudwatch_metric_alarm.this) == 10 && !anytrue([for name in keys(aws_cloudwatch_metric_alarm.this) : startswith(name, "mailer-")])
    error_message = "There is an alarm on mail without the setting inbox, or another is missing."
  }
  assert {
    condition = [
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : try(widget.properties.markdown, widget.properties.title)
      ] == [
      "Alarms of inquiries-${terraform.workspace}",
      "## Is it up?", "Requests and failures", "Function: errors, internal errors (faults), throttles", "Table: throttles and errors",
      "## Can users get in?", "Refused (401) and admitted requests",
      "## Is it fast?", "Latency seen by clients (ms)", "Function: duration (ms), instances, memory (MB)", "Table: latency (ms)",
      "## Who is affected?", "Refused and failed requests", "Latest internal errors", "Slowest requests",
    ]
    error_message = "The dashboard has widgets of what the stage does not have, or lacks others."
  }
}
