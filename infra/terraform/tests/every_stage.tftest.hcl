# Assertions for all three stages; `npm run check:infra` runs this file in each workspace. The ids in messages
# are policies of Checkov (CKV…) and Trivy (AVD-…) that the assertion checks; docs/security-policies.md lists
# them. everything.tftest.hcl tests the setting inbox, which is unset here, and the alarms.

mock_provider "aws" { source = "./tests/mocks" }

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
  # local/database/table.ts creates the same; CORS: tests/local/gateway.test.ts.
  assert {
    condition = (
      [aws_dynamodb_table.this.hash_key, aws_dynamodb_table.this.range_key] == ["pk", "sk"]
      && [for index in aws_dynamodb_table.this.global_secondary_index : [index.name, index.hash_key, index.range_key, index.projection_type]] == [["by-state", "inbox", "id", "INCLUDE"]]
      && one(aws_dynamodb_table.this.global_secondary_index).non_key_attributes == toset(["cognito_sub", "email", "created_at", "reply_at", "respondent", "expires_at"])
    )
    error_message = "The table or its index has other keys or columns than src/entities/inquiry.ts."
  }
  assert {
    condition = alltrue([
      for table in [aws_dynamodb_table.this, aws_dynamodb_table.erasures] :
      table.billing_mode == "PAY_PER_REQUEST"
      && table.point_in_time_recovery[0].enabled
      && table.point_in_time_recovery[0].recovery_period_in_days == 35
      && table.deletion_protection_enabled == (terraform.workspace != "develop")
    ])
    error_message = "CKV2_AWS_16, CKV_AWS_28, AVD-AWS-0024: a table does not scale with the load, cannot be restored to a point in time of the last 35 days, or can be deleted on main and release, or cannot on develop."
  }
  assert {
    condition     = one(aws_dynamodb_table.this.ttl).attribute_name == "expires_at" && length(aws_dynamodb_table.erasures.ttl) == 0
    error_message = "Inquiries do not expire, or records of erasures do."
  }
  assert {
    condition     = aws_lambda_function.this.environment[0].variables == tomap({ TABLE_NAME = "inquiries-${terraform.workspace}", CORS_ORIGIN = "https://${terraform.workspace}.example.com" })
    error_message = "CKV_AWS_45: the function has other settings than the table's name and the origin."
  }
  assert {
    condition = (
      aws_lambda_function.this.memory_size == 128
      && aws_lambda_function.this.timeout == 30
      && aws_lambda_function.this.publish
      && aws_lambda_function.this.source_code_hash == filebase64sha256("versions.tf")
      && aws_lambda_function.this.tracing_config[0].mode == "Active"
      && aws_lambda_function.this.logging_config[0].log_group == aws_cloudwatch_log_group.function.name
      && aws_lambda_function.this.logging_config[0].system_log_level == "INFO"
    )
    error_message = "CKV_AWS_50, CKV_AWS_363, AVD-AWS-0066: the function is not the package that was built, does not have the 128 MB and 30 s of the specification, has no versions to go back to, or has no traces or logs."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_role_policy.function.policy).Statement) == jsonencode([
      { Sid = "Inquiries", Effect = "Allow", Action = ["dynamodb:PutItem", "dynamodb:Query"], Resource = aws_dynamodb_table.this.arn },
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
    condition     = alltrue([for log in [aws_cloudwatch_log_group.function, aws_cloudwatch_log_group.access] : log.retention_in_days == 30])
    error_message = "CKV_AWS_66: a log group is kept for ever."
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
      aws_apigatewayv2_api.this.protocol_type == "HTTP"
      && aws_apigatewayv2_integration.this.payload_format_version == "2.0"
      && aws_apigatewayv2_integration.this.integration_uri == aws_lambda_alias.live.invoke_arn
      && aws_lambda_alias.live.function_version == aws_lambda_function.this.version
      && aws_apigatewayv2_integration.this.timeout_milliseconds == 30000
      && { for answer in aws_apigatewayv2_integration.this.response_parameters : answer.status_code => answer.mappings } == {
        for status in ["200", "201"] : status => tomap({ "overwrite:header.cache-control" = "no-store" })
      }
    )
    error_message = "CKV2_AWS_51: the API is not an HTTP API, whose stages have no client certificates, or its integration is not the alias of the function with payload 2.0 and its 30 s, or successful answers may be cached."
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
    condition = (
      aws_apigatewayv2_stage.this.default_route_settings[0].throttling_rate_limit == 11
      && aws_apigatewayv2_stage.this.default_route_settings[0].throttling_burst_limit == 22
      && aws_apigatewayv2_stage.this.access_log_settings[0].destination_arn == aws_cloudwatch_log_group.access.arn
    )
    error_message = "CKV_AWS_76, AVD-AWS-0001: requests are not limited as the setting says, or the gateway has no access log."
  }
  assert {
    condition = alltrue([
      for field in values(jsondecode(aws_apigatewayv2_stage.this.access_log_settings[0].format)) :
      !can(regex("identity|claims|principal|context\\.path|domainName|[hH]eader|[qQ]uery", field))
      ]) && length(setsubtract(
      ["requestId", "routeKey", "status", "responseLatency", "functionRequestId", "authorizerError", "integrationError", "integrationStatus"],
      keys(jsondecode(aws_apigatewayv2_stage.this.access_log_settings[0].format))
    )) == 0
    error_message = "The access log would contain personal data, or lacks a field that a metric filter, the dashboard or the runbook uses."
  }
  assert {
    condition = (
      one(values(aws_apigatewayv2_domain_name.this)).domain_name_configuration[0].security_policy == "TLS_1_2"
      && one(values(aws_apigatewayv2_api_mapping.this)).stage == aws_apigatewayv2_stage.this.id
    )
    error_message = "AVD-AWS-0005, CKV_AWS_206: the custom domain accepts TLS below 1.2, or is not mapped to the stage."
  }
  assert {
    condition     = local.tags == { service = "inquiries", stage = terraform.workspace, managed_by = "terraform" }
    error_message = "The resources do not have the tags that the policies of bootstrap/policies.tf and the costs are told apart by."
  }
  assert {
    condition = (
      output.stage == terraform.workspace
      && output.api_url == "https://${terraform.workspace}.api.example.com"
      && output.cors_origin == "https://${terraform.workspace}.example.com"
      && length(output.dns_records) == 0
      && aws_apigatewayv2_api.this.disable_execute_api_endpoint
    )
    error_message = "An output has another value, or a domain that is in use is not the only way to the API."
  }
  assert {
    condition = alltrue([for resources in [
      module.mailer,
      [for name in keys(module.alarms.all) : name if startswith(name, "mailer-")],
      [for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget if strcontains(jsonencode(widget), "mail")],
    ] : length(resources) == 0]) && !aws_dynamodb_table.this.stream_enabled && output.dead_letter_queue_url == null && length(module.alarms.all) == 12
    error_message = "There is something for mail without the setting inbox, or another alarm is missing."
  }
  assert {
    condition     = length(aws_route53_health_check.this) + length(module.alarms_us_east_1.topics) == 0
    error_message = "A form that this stage does not serve, its issuer or the API is watched without the setting probe."
  }
}
