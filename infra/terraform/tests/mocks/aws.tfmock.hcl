# Values that AWS assigns and that assertions read. Terraform generates all others.

mock_data "aws_region" { defaults = { id = "eu-central-1" } }
mock_data "aws_caller_identity" { defaults = { account_id = "111122223333" } }
mock_data "aws_partition" { defaults = { partition = "aws" } }
mock_data "aws_route53_zone" { defaults = { zone_id = "MOCKZONE" } }
mock_data "aws_apigatewayv2_apis" { defaults = { ids = ["mockapi"] } }

mock_data "aws_resourcegroupstaggingapi_resources" {
  defaults = { resource_tag_mapping_list = [{ resource_arn = "arn:aws:route53:::healthcheck/mock" }] }
}

mock_resource "aws_dynamodb_table" {
  defaults = { stream_arn = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/stream/2026-01-01T00:00:00.000" }
}

mock_resource "aws_cloudwatch_log_group" { defaults = { arn = "arn:aws:logs:eu-central-1:111122223333:log-group:mock" } }
mock_resource "aws_iam_role" { defaults = { arn = "arn:aws:iam::111122223333:role/mock" } }

mock_resource "aws_lambda_alias" {
  defaults = {
    arn        = "arn:aws:lambda:eu-central-1:111122223333:function:mock:live"
    invoke_arn = "arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-central-1:111122223333:function:mock:live/invocations"
  }
}

mock_resource "aws_apigatewayv2_api" {
  defaults = {
    id            = "mockapi"
    api_endpoint  = "https://mockapi.execute-api.eu-central-1.amazonaws.com"
    execution_arn = "arn:aws:execute-api:eu-central-1:111122223333:mockapi"
  }
}

mock_resource "aws_sns_topic" { defaults = { arn = "arn:aws:sns:eu-central-1:111122223333:mock" } }
mock_resource "aws_sqs_queue" { defaults = { arn = "arn:aws:sqs:eu-central-1:111122223333:mock" } }

mock_resource "aws_apigatewayv2_domain_name" {
  defaults = {
    domain_name_configuration = { target_domain_name = "d-mock.execute-api.eu-central-1.amazonaws.com", hosted_zone_id = "MOCKAPIZONE" }
  }
}

mock_resource "aws_cognito_user_pool" {
  defaults = {
    id       = "eu-central-1_Mock"
    arn      = "arn:aws:cognito-idp:eu-central-1:111122223333:userpool/eu-central-1_Mock"
    endpoint = "cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Mock"
  }
}

mock_resource "aws_s3_bucket" {
  defaults = { arn = "arn:aws:s3:::mock", bucket_regional_domain_name = "mock.s3.eu-central-1.amazonaws.com" }
}

mock_resource "aws_cloudfront_distribution" {
  defaults = {
    id             = "MOCKDISTRIBUTION"
    arn            = "arn:aws:cloudfront::111122223333:distribution/MOCKDISTRIBUTION"
    domain_name    = "mock.cloudfront.net"
    hosted_zone_id = "MOCKSITEZONE"
  }
}

mock_resource "aws_acm_certificate" {
  defaults = {
    arn = "arn:aws:acm:eu-central-1:111122223333:certificate/mock"
    domain_validation_options = [{
      domain_name           = "mock.example.com"
      resource_record_name  = "_mock.example.com."
      resource_record_type  = "CNAME"
      resource_record_value = "_mock.acm-validations.aws."
    }]
  }
}

mock_data "aws_sesv2_email_identity" { defaults = { arn = "arn:aws:ses:eu-central-1:111122223333:identity/named", verified_for_sending_status = true } }

mock_resource "aws_sesv2_email_identity" {
  defaults = {
    arn                         = "arn:aws:ses:eu-central-1:111122223333:identity/mock"
    verified_for_sending_status = true
    dkim_signing_attributes     = { tokens = ["one"] }
  }
}

mock_resource "aws_cloudwatch_event_rule" { defaults = { arn = "arn:aws:events:eu-central-1:111122223333:rule/mock" } }
mock_resource "aws_lambda_function" { defaults = { arn = "arn:aws:lambda:eu-central-1:111122223333:function:mock" } }

# The answers of versions that pass: of a mailer, and of the function.
mock_resource "aws_lambda_invocation" { defaults = { result = "{\"batchItemFailures\":[]}" } }

override_resource {
  target = aws_lambda_invocation.post
  values = { result = "{\"statusCode\":201,\"body\":\"{\\\"inquiry\\\":{\\\"id\\\":\\\"mock\\\"}}\"}" }
}

override_resource {
  target = aws_lambda_invocation.list
  values = { result = "{\"statusCode\":200,\"body\":\"{\\\"inquiries\\\":[{\\\"id\\\":\\\"mock\\\"}]}\"}" }
}

override_resource {
  target = aws_lambda_invocation.refused["unauthorized"]
  values = { result = "{\"statusCode\":401,\"body\":\"\"}" }
}

override_resource {
  target = aws_lambda_invocation.refused["not_allowed"]
  values = { result = "{\"statusCode\":405,\"body\":\"\"}" }
}
