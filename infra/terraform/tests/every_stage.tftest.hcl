# What is the same in all three stages; `npm run check:infra` runs this file in each workspace. Ids in comments are
# policies of Checkov (CKV…) and Trivy (AVD-…) that the assertion checks; docs/security-policies.md has the others.

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
      audience    = ["client-of-${stage}", "second-client"]
      cors_origin = "https://${stage}.example.com"
      domain      = { name = "${stage}.api.example.com", certificate_arn = "arn:aws:acm:eu-central-1:111122223333:certificate/mock", dns = "all" }
    }
  }
}

run "stage" {
  assert {
    condition = (
      [aws_dynamodb_table.this.hash_key, aws_dynamodb_table.this.range_key] == ["pk", "sk"]
      && [for index in aws_dynamodb_table.this.global_secondary_index : [index.name, index.hash_key, index.range_key, index.projection_type]] == [["by-state", "inbox", "id", "INCLUDE"]]
      && one(aws_dynamodb_table.this.global_secondary_index).non_key_attributes == toset(["cognito_sub", "email", "created_at", "reply_at", "respondent", "expires_at"])
      && one(aws_dynamodb_table.this.ttl).attribute_name == "expires_at" && length(aws_dynamodb_table.erasures.ttl) == 0
    )
    error_message = "The tables are not those of src/entities."
  }
  # CKV2_AWS_16, CKV_AWS_28, AVD-AWS-0024
  assert {
    condition = alltrue([for table in [aws_dynamodb_table.this, aws_dynamodb_table.erasures] :
      [table.billing_mode, table.point_in_time_recovery[0].enabled, table.point_in_time_recovery[0].recovery_period_in_days, table.deletion_protection_enabled, length(table.server_side_encryption)]
      == ["PAY_PER_REQUEST", true, 35, terraform.workspace != "develop", 0]
    ]) && terraform_data.guard.input.is_protected == (terraform.workspace != "develop")
    error_message = "A table is not backed up, protected, or encrypted as set."
  }
  # CKV_AWS_45, CKV_AWS_50, CKV_AWS_66, CKV_AWS_363, AVD-AWS-0066
  assert {
    condition = (
      aws_lambda_function.this.environment[0].variables == tomap({ TABLE_NAME = "inquiries-${terraform.workspace}", CORS_ORIGIN = "https://${terraform.workspace}.example.com" })
      && [aws_lambda_function.this.memory_size, aws_lambda_function.this.timeout, aws_lambda_function.this.publish, aws_lambda_function.this.tracing_config[0].mode] == [128, 30, true, "Active"]
      && [aws_lambda_function.this.source_code_hash, aws_lambda_function.this.role] == [filebase64sha256("versions.tf"), aws_iam_role.function.arn]
      && [aws_lambda_function.this.logging_config[0].log_group, aws_lambda_function.this.logging_config[0].system_log_level] == [aws_cloudwatch_log_group.function.name, "INFO"]
      && [aws_cloudwatch_log_group.function.retention_in_days, aws_cloudwatch_log_group.access.retention_in_days] == [30, 30]
      && contains([-1, 0], coalesce(aws_lambda_function.this.reserved_concurrent_executions, 0))
    )
    error_message = "The function has another package, size, log or trace."
  }
  # CKV_AWS_60 to 63, CKV_AWS_286 to 290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345
  assert {
    condition = { for statement in jsondecode(aws_iam_role_policy.function.policy).Statement : statement.Sid => [statement.Action, statement.Resource] } == {
      Inquiries = [["dynamodb:PutItem", "dynamodb:Query"], aws_dynamodb_table.this.arn]
      Logs      = [["logs:CreateLogStream", "logs:PutLogEvents"], "${aws_cloudwatch_log_group.function.arn}:*"]
      Traces    = [["xray:PutTelemetryRecords", "xray:PutTraceSegments"], "*"]
    } && jsondecode(aws_iam_role.function.assume_role_policy).Statement[*].Principal == [{ Service = "lambda.amazonaws.com" }]
    error_message = "The function may do more."
  }
  # CKV_AWS_309, AVD-AWS-0004
  assert {
    condition = { for route in aws_apigatewayv2_route.this : route.route_key => [route.authorization_type, route.authorizer_id, route.target] } == {
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] :
      "${method} /inquiries" => ["JWT", aws_apigatewayv2_authorizer.this.id, "integrations/${aws_apigatewayv2_integration.this.id}"]
      } && [aws_apigatewayv2_authorizer.this.authorizer_type, one(aws_apigatewayv2_authorizer.this.identity_sources), aws_apigatewayv2_authorizer.this.jwt_configuration[0].issuer] == [
      "JWT", "$request.header.Authorization", "https://issuer.example.com/${terraform.workspace}"
    ] && aws_apigatewayv2_authorizer.this.jwt_configuration[0].audience == toset(["client-of-${terraform.workspace}", "second-client"])
    error_message = "A route is open or missing."
  }
  # CKV2_AWS_51
  assert {
    condition = (
      [aws_apigatewayv2_api.this.protocol_type, aws_apigatewayv2_integration.this.payload_format_version, aws_apigatewayv2_integration.this.timeout_milliseconds] == ["HTTP", "2.0", 30000]
      && aws_apigatewayv2_integration.this.integration_uri == aws_lambda_alias.live.invoke_arn
      && { for answer in aws_apigatewayv2_integration.this.response_parameters : answer.status_code => answer.mappings["overwrite:header.cache-control"] } == { 200 = "no-store", 201 = "no-store" }
    )
    error_message = "The gateway does not call what is live, or answers are cached."
  }
  # CKV_AWS_301, CKV_AWS_364, AVD-AWS-0067
  assert {
    condition = { for permission in aws_lambda_permission.live : permission.source_arn => [permission.principal, permission.qualifier] } == {
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] :
      "arn:aws:execute-api:eu-central-1:111122223333:mockapi/*/${method}/inquiries" => ["apigateway.amazonaws.com", "live"]
    }
    error_message = "Others may invoke the function."
  }
  # CKV_AWS_76, AVD-AWS-0001, AVD-AWS-0005, CKV_AWS_206
  assert {
    condition = (
      [aws_apigatewayv2_stage.this.default_route_settings[0].throttling_rate_limit, aws_apigatewayv2_stage.this.default_route_settings[0].throttling_burst_limit] == [100, 200]
      && aws_apigatewayv2_stage.this.access_log_settings[0].destination_arn == aws_cloudwatch_log_group.access.arn
      && join(" ", [for name, value in jsondecode(aws_apigatewayv2_stage.this.access_log_settings[0].format) : "${name}:${trimprefix(value, "$context.")}"]) == join(" ", [
        "authorizerError:authorizer.error errorType:error.responseType functionRequestId:integration.requestId httpMethod:httpMethod integrationError:integration.error",
        "integrationLatency:integration.latency integrationStatus:integration.status protocol:protocol requestId:requestId requestTime:requestTime",
        "responseLatency:responseLatency responseLength:responseLength routeKey:routeKey status:status",
      ])
      && one(values(aws_apigatewayv2_domain_name.this)).domain_name_configuration[0].security_policy == "TLS_1_2"
      && one(values(aws_apigatewayv2_api_mapping.this)).stage == aws_apigatewayv2_stage.this.id
    )
    error_message = "Requests are not limited or logged, the log has personal data, or TLS is old."
  }
  assert {
    condition = (
      [output.stage, output.api_url, output.cors_origin] == [terraform.workspace, "https://${terraform.workspace}.api.example.com", "https://${terraform.workspace}.example.com"]
      && local.tags == { service = "inquiries", stage = terraform.workspace, managed_by = "terraform" }
      && [length(output.dns_records), length(output.connect_origins)] == [0, 0]
      && alltrue([for value in [output.site, output.form_config, output.smoke_sign_in] : value == null])
      && [aws_apigatewayv2_api.this.disable_execute_api_endpoint, aws_dynamodb_table.erasures.tags["user_pool"]] == [true, "none"]
    )
    error_message = "The stage has other tags or addresses than its own."
  }
  assert {
    condition = (
      [length(module.mailer), length(module.identity), length(module.site), length(aws_route53_health_check.this), aws_dynamodb_table.this.stream_enabled] == [0, 0, 0, 0, false]
      && [length(module.alarms.all), alltrue([for alarm in module.alarms.all : length(alarm.alarm_actions) == 0])] == [12, true]
      && length([for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget if strcontains(jsonencode(widget), "mail")]) == 0
    )
    error_message = "Something exists without its setting."
  }
}
