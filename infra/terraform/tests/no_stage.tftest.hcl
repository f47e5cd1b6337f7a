# Workspaces that are no stage; `npm run check:infra` runs this file in "default" and in one with a name of its own.

mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  runtime      = "nodejs22.x"
  package_file = "versions.tf"
}

run "refuses_a_workspace_that_is_no_stage" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_it_without_any_settings" {
  command = plan

  expect_failures = [var.stages]
}

run "refuses_it_even_with_settings_of_that_name" {
  command = plan

  variables {
    stages = {
      for workspace in ["default", "feature"] : workspace => {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
      }
    }
  }

  expect_failures = [var.stages]
}
