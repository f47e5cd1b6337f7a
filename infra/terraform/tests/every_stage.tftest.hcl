# Assertions for all three stages; `npm run check:infra` runs this file in each workspace. The ids in messages are policies of
# Checkov (CKV…) and Trivy (AVD-…) that the assertion checks; docs/security-policies.md lists them. inbox.tftest.hcl tests the
# setting inbox, which is unset here.

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

run "table_and_function" {
  assert {
    condition     = aws_dynamodb_table.this.name == "inquiries-${terraform.workspace}"
    error_message = "The table is not named after the stage."
  }
  assert {
    condition     = aws_dynamodb_table.this.hash_key == "pk" && aws_dynamodb_table.this.range_key == "sk"
    error_message = "The table's keys are not those of the entity."
  }
  assert {
    condition     = { for key in aws_dynamodb_table.this.attribute : key.name => key.type } == { pk = "S", sk = "S", __edb_e__ = "S", id = "S" }
    error_message = "The keys of the table and of its index are not strings."
  }
  assert {
    condition     = aws_dynamodb_table.this.billing_mode == "PAY_PER_REQUEST"
    error_message = "CKV2_AWS_16: the table does not scale with the load."
  }
  assert {
    condition = (
      one(aws_dynamodb_table.this.global_secondary_index).name == "by-time"
      && one(aws_dynamodb_table.this.global_secondary_index).hash_key == "__edb_e__"
      && one(aws_dynamodb_table.this.global_secondary_index).range_key == "id"
      && one(aws_dynamodb_table.this.global_secondary_index).projection_type == "INCLUDE"
    )
    error_message = "The table has no index of all inquiries by time."
  }
  assert {
    condition     = !contains(one(aws_dynamodb_table.this.global_secondary_index).non_key_attributes, "body") && !contains(one(aws_dynamodb_table.this.global_secondary_index).non_key_attributes, "reply")
    error_message = "The index stores texts a second time."
  }
  assert {
    condition     = !aws_dynamodb_table.this.stream_enabled
    error_message = "The table has a stream without the setting inbox."
  }
  assert {
    condition = alltrue([
      for table in [aws_dynamodb_table.this, aws_dynamodb_table.erasures] :
      table.point_in_time_recovery[0].enabled && table.point_in_time_recovery[0].recovery_period_in_days == 35
    ])
    error_message = "CKV_AWS_28, AVD-AWS-0024: a table cannot be restored to a point in time of the last 35 days."
  }
  assert {
    condition     = aws_dynamodb_table.this.ttl[0].enabled && aws_dynamodb_table.this.ttl[0].attribute_name == "expires_at"
    error_message = "Expiry (TTL) is not enabled on expires_at."
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
    condition     = aws_dynamodb_table.erasures.deletion_protection_enabled == aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "The table of erasures is not protected as the table is."
  }
  assert {
    condition     = aws_lambda_function.this.function_name == "inquiries-${terraform.workspace}"
    error_message = "The function is not named after the stage."
  }
  assert {
    condition     = aws_lambda_function.this.memory_size == 128 && aws_lambda_function.this.timeout == 30
    error_message = "The function does not have the specified 128 MB and 30 s."
  }
  assert {
    condition     = aws_lambda_function.this.handler == "handler.handler" && one(aws_lambda_function.this.architectures) == "arm64"
    error_message = "The function does not start the handler of the built package on arm64."
  }
  assert {
    condition     = aws_lambda_function.this.runtime == var.runtime
    error_message = "CKV_AWS_363: the runtime is not var.runtime, which must be a supported one."
  }
  assert {
    condition     = aws_lambda_function.this.source_code_hash == filebase64sha256("versions.tf")
    error_message = "A change of the package would not be deployed."
  }
  assert {
    condition     = aws_lambda_function.this.tracing_config[0].mode == "Active"
    error_message = "CKV_AWS_50, AVD-AWS-0066: the function is not traced."
  }
  assert {
    condition = aws_lambda_function.this.environment[0].variables == tomap({
      TABLE_NAME  = "inquiries-${terraform.workspace}"
      CORS_ORIGIN = "https://${terraform.workspace}.example.com"
    })
    error_message = "CKV_AWS_45: the environment is not the table's name and the origin only."
  }
  assert {
    condition = (
      aws_lambda_function.this.logging_config[0].log_format == "JSON"
      && aws_lambda_function.this.logging_config[0].log_group == aws_cloudwatch_log_group.function.name
      && aws_lambda_function.this.logging_config[0].application_log_level == "INFO"
      && aws_lambda_function.this.logging_config[0].system_log_level == "INFO"
    )
    error_message = "The function does not log JSON, with its report lines, to its own log group."
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
    condition     = aws_cloudwatch_log_group.function.name == "/aws/lambda/${aws_lambda_function.this.function_name}"
    error_message = "The function's log group does not have Lambda's default name, which its tools expect."
  }
  assert {
    condition     = aws_cloudwatch_log_group.function.retention_in_days == 30 && aws_cloudwatch_log_group.access.retention_in_days == 30
    error_message = "CKV_AWS_66: a log group has no or another retention."
  }
}

run "api" {
  assert {
    condition = toset([for route in aws_apigatewayv2_route.this : route.route_key]) == toset([
      "GET /inquiries", "POST /inquiries", "PUT /inquiries", "PATCH /inquiries", "DELETE /inquiries", "HEAD /inquiries",
    ])
    error_message = "The routes are not the six methods of /inquiries, without OPTIONS and ANY."
  }
  assert {
    condition = alltrue([
      for route in aws_apigatewayv2_route.this : route.authorization_type == "JWT" && route.authorizer_id == aws_apigatewayv2_authorizer.this.id
    ])
    error_message = "CKV_AWS_309, AVD-AWS-0004: a route has no JWT authorizer."
  }
  assert {
    condition     = alltrue([for route in aws_apigatewayv2_route.this : route.target == "integrations/${aws_apigatewayv2_integration.this.id}"])
    error_message = "A route has another integration."
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
    condition = toset([for permission in aws_lambda_permission.live : permission.source_arn]) == toset([
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] : "arn:aws:execute-api:eu-central-1:111122223333:mockapi/*/${method}/inquiries"
    ])
    error_message = "CKV_AWS_364, AVD-AWS-0067: the permission to invoke is not limited to the routes."
  }
  assert {
    condition = alltrue([
      for permission in aws_lambda_permission.live :
      permission.principal == "apigateway.amazonaws.com" && permission.action == "lambda:InvokeFunction" && permission.qualifier == aws_lambda_alias.live.name
    ])
    error_message = "CKV_AWS_301: others than the gateway may invoke the function."
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
    )
    error_message = "CORS is not limited to the stage's origin and the contract's methods and headers."
  }
  assert {
    condition     = one(aws_apigatewayv2_api.this.cors_configuration[0].allow_origins) == aws_lambda_function.this.environment[0].variables.CORS_ORIGIN
    error_message = "The gateway and the function have different origins."
  }
  assert {
    condition     = aws_apigatewayv2_stage.this.name == "$default" && aws_apigatewayv2_stage.this.auto_deploy
    error_message = "The stage is not $default with auto deploy: a changed route would not be deployed, or the path would have a prefix."
  }
  assert {
    condition = (
      aws_apigatewayv2_stage.this.default_route_settings[0].throttling_rate_limit == 11
      && aws_apigatewayv2_stage.this.default_route_settings[0].throttling_burst_limit == 22
    )
    error_message = "A throttling limit of the stage is not set: every call would be a 429."
  }
  assert {
    condition     = aws_apigatewayv2_stage.this.access_log_settings[0].destination_arn == aws_cloudwatch_log_group.access.arn
    error_message = "CKV_AWS_76, AVD-AWS-0001: the gateway has no access log."
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
}

run "preflights" {
  assert {
    condition     = aws_apigatewayv2_api.this.cors_configuration[0].max_age == 3600
    error_message = "Browsers do not keep the answer to a preflight for an hour: every request takes two."
  }
}

run "tags" {
  assert {
    condition     = local.tags == { service = "inquiries", stage = terraform.workspace, managed_by = "terraform" }
    error_message = "The resources do not have the tags by which costs are told apart."
  }
}

run "outputs" {
  assert {
    condition     = output.stage == terraform.workspace
    error_message = "The stage is not the workspace."
  }
  assert {
    condition     = output.api_url == "https://${terraform.workspace}.api.example.com"
    error_message = "The URL is not the custom domain's."
  }
  assert {
    condition = (
      output.table_name == aws_dynamodb_table.this.name
      && output.function_name == aws_lambda_function.this.function_name
      && output.log_group_name == aws_cloudwatch_log_group.function.name
      && output.access_log_group_name == aws_cloudwatch_log_group.access.name
      && output.cors_origin == one(aws_apigatewayv2_api.this.cors_configuration[0].allow_origins)
    )
    error_message = "An output has another value."
  }
  assert {
    condition     = endswith(output.dashboard_url, "region=eu-central-1#dashboards/dashboard/inquiries-${terraform.workspace}")
    error_message = "The dashboard's URL does not end in its region and name."
  }
  assert {
    condition     = length(output.dns_records) == 0 && aws_apigatewayv2_api.this.disable_execute_api_endpoint
    error_message = "A domain that is in use is not the only way to the API."
  }
}

run "without_inbox" {
  assert {
    condition = alltrue([for resources in [
      aws_lambda_function.mailer, aws_iam_role.mailer, aws_iam_role_policy.mailer, aws_lambda_event_source_mapping.mailer,
      aws_cloudwatch_log_group.mailer, aws_sqs_queue.dead_letters, aws_sqs_queue_policy.dead_letters,
    ] : length(resources) == 0]) && length(aws_sesv2_email_identity.this) == 0
    error_message = "There is a resource for mail without the setting inbox."
  }
  assert {
    condition = (
      output.mailer_function_name == null && output.dead_letter_queue_url == null && length(output.mail_dns_records) == 0
    )
    error_message = "An output names a resource for mail without the setting inbox."
  }
  assert {
    condition     = !contains([for statement in jsondecode(aws_iam_policy.inbox.policy).Statement : statement.Sid], "SendAgain")
    error_message = "Operators may invoke a mailer that does not exist."
  }
}

run "settings_of_the_function" {
  variables {
    stages = {
      for stage in ["develop", "main", "release"] : stage => {
        issuer             = "https://issuer.example.com"
        audience           = ["client"]
        cors_origin        = "https://www.example.com"
        pitr_days          = 7
        retention_days     = 365
        inquiries_per_hour = 60
      }
    }
  }

  assert {
    condition = (
      aws_dynamodb_table.this.point_in_time_recovery[0].recovery_period_in_days == 7
      && aws_dynamodb_table.erasures.point_in_time_recovery[0].recovery_period_in_days == 7
    )
    error_message = "pitr_days does not limit how far back the tables can be restored."
  }
  assert {
    condition = aws_lambda_function.this.environment[0].variables == tomap({
      TABLE_NAME         = "inquiries-${terraform.workspace}"
      CORS_ORIGIN        = "https://www.example.com"
      RETENTION_DAYS     = "365"
      INQUIRIES_PER_HOUR = "60"
    })
    error_message = "The function does not get retention_days or inquiries_per_hour."
  }
}
