# The stage main: deletion protection and a customer key.

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
    main = {
      issuer            = "https://issuer.example.com/main/"
      audience          = ["client"]
      cors_origin       = "https://main.example.com:8443"
      table_kms_key_arn = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"
    }
  }
}

run "protected" {
  assert {
    condition     = aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "The table of main can be deleted."
  }
  assert {
    condition = (
      aws_dynamodb_table.this.server_side_encryption[0].enabled
      && aws_dynamodb_table.this.server_side_encryption[0].kms_key_arn == var.stages.main.table_kms_key_arn
      && aws_dynamodb_table.erasures.server_side_encryption[0].enabled
      && aws_dynamodb_table.erasures.server_side_encryption[0].kms_key_arn == var.stages.main.table_kms_key_arn
    )
    error_message = "A table does not use the customer's key."
  }
}

# The only way to destroy a protected stage (docs/runbook.md).
run "protection_switched_off" {
  variables {
    stages = {
      main = {
        issuer                      = "https://issuer.example.com/main/"
        audience                    = ["client"]
        cors_origin                 = "https://main.example.com"
        deletion_protection_enabled = false
      }
    }
  }

  assert {
    condition     = !aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "Deletion protection cannot be switched off."
  }
}
