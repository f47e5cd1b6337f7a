# The stage release: deletion protection, retention of logs and reserved concurrency.

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
    release = {
      issuer               = "https://issuer.example.com"
      audience             = ["client"]
      cors_origin          = "https://www.example.com"
      log_retention_days   = 365
      reserved_concurrency = 50
    }
  }
}

run "protected" {
  assert {
    condition     = aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "The table of release can be deleted."
  }
  assert {
    condition     = aws_lambda_function.this.reserved_concurrent_executions == 50
    error_message = "Concurrency cannot be reserved."
  }
  assert {
    condition     = aws_cloudwatch_log_group.function.retention_in_days == 365 && aws_cloudwatch_log_group.access.retention_in_days == 365
    error_message = "Logs cannot be kept for a year."
  }
}

run "stopped" {
  variables {
    stages = {
      release = {
        issuer               = "https://issuer.example.com"
        audience             = ["client"]
        cors_origin          = "https://www.example.com"
        reserved_concurrency = 0
      }
    }
  }

  assert {
    condition     = aws_lambda_function.this.reserved_concurrent_executions == 0
    error_message = "The function cannot be stopped with a reserved concurrency of 0."
  }
}
