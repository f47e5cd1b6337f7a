# What becomes live: `npm run check:infra` runs this file in the workspace develop.

mock_provider "aws" { source = "./tests/mocks" }

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"
}

override_resource {
  target = aws_lambda_function.this
  values = { version = "8" }
}

variables {
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  stages = { develop = { inbox = { to = "team@example.com", from = "inquiries@example.com" } } }
}

run "new_version" {
  assert {
    condition = (
      aws_lambda_alias.live.function_version == "8"
      && [for one in [aws_lambda_invocation.post, aws_lambda_invocation.list] : one.qualifier] == ["8", "8"]
      && jsondecode(aws_lambda_invocation.post.input).requestContext.authorizer.jwt.claims == local.test_claims
    )
    error_message = "The newest version is not the one that is tested, with claims, and live."
  }
}

run "pinned_version" {
  variables { live_version = "7" }

  assert {
    condition     = aws_lambda_alias.live.function_version == "7" && aws_lambda_invocation.post.qualifier == "7"
    error_message = "A pinned version is not tested and live."
  }
}

# Each in a state of its own: an override does not change what was invoked before.
run "post_fails" {
  state_key = "post_fails"

  override_resource {
    target = aws_lambda_invocation.post
    values = { result = "{\"statusCode\":500,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "list_lacks_the_inquiry" {
  state_key = "list_lacks_the_inquiry"

  override_resource {
    target = aws_lambda_invocation.list
    values = { result = "{\"statusCode\":200,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "claims_are_not_checked" {
  state_key = "claims_are_not_checked"

  override_resource {
    target = aws_lambda_invocation.refused["unauthorized"]
    values = { result = "{\"statusCode\":200,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "any_method_is_taken" {
  state_key = "any_method_is_taken"

  override_resource {
    target = aws_lambda_invocation.refused["not_allowed"]
    values = { result = "{\"statusCode\":200,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "address_to_which_cognito_does_not_return" {
  command   = plan
  state_key = "http"

  variables {
    stages = { develop = { cors_origin = "http://www.example.com" } }
  }

  expect_failures = [output.stage]
}
