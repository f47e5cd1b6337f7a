# The defaults: the stage develop with the required settings only.

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
  runtime             = "nodejs22.x"
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  stages = {
    develop = {
      issuer      = "https://issuer.example.com"
      audience    = ["client"]
      cors_origin = "http://localhost:5173"
    }
  }
}

run "defaults" {
  assert {
    condition     = !aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "The table of develop cannot be destroyed."
  }
  assert {
    condition     = length(aws_dynamodb_table.this.server_side_encryption) == 0 && length(aws_dynamodb_table.erasures.server_side_encryption) == 0
    error_message = "Without a customer key a table does not use the key that AWS owns."
  }
  assert {
    condition     = aws_lambda_function.this.reserved_concurrent_executions == -1 || aws_lambda_function.this.reserved_concurrent_executions == null
    error_message = "Concurrency is reserved by default."
  }
  assert {
    condition = (
      aws_apigatewayv2_stage.this.default_route_settings[0].throttling_rate_limit == 100
      && aws_apigatewayv2_stage.this.default_route_settings[0].throttling_burst_limit == 200
    )
    error_message = "A throttling limit has no default: every call would be a 429."
  }
  assert {
    condition     = aws_cloudwatch_log_group.function.retention_in_days == 30
    error_message = "Logs are not kept for 30 days by default."
  }
  assert {
    condition     = length(aws_sns_topic.alarms) == 0 && alltrue([for alarm in aws_cloudwatch_metric_alarm.this : length(alarm.alarm_actions) == 0])
    error_message = "There is a topic for alarms without an address."
  }
  assert {
    condition     = length(aws_apigatewayv2_domain_name.this) == 0 && length(output.dns_records) == 0
    error_message = "There is a custom domain by default."
  }
  assert {
    condition     = output.api_url == "https://mockapi.execute-api.eu-central-1.amazonaws.com"
    error_message = "The URL is not the gateway's."
  }
}

run "protection_on_request" {
  variables {
    stages = {
      develop = {
        issuer                      = "https://issuer.example.com"
        audience                    = ["client"]
        cors_origin                 = "http://[::1]:5173"
        deletion_protection_enabled = true
      }
    }
  }

  assert {
    condition     = aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "Deletion protection cannot be switched on for develop."
  }
}
