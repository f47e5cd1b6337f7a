# Values that AWS assigns and that assertions read. Terraform generates all others.

mock_data "aws_region" {
  defaults = { id = "eu-central-1" }
}

mock_resource "aws_dynamodb_table" {
  defaults = {
    arn        = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock"
    stream_arn = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/stream/2026-01-01T00:00:00.000"
  }
}

mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:eu-central-1:111122223333:log-group:mock" }
}

mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::111122223333:role/mock" }
}

mock_resource "aws_lambda_function" {
  defaults = {
    arn        = "arn:aws:lambda:eu-central-1:111122223333:function:mock"
    invoke_arn = "arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-central-1:111122223333:function:mock/invocations"
  }
}

mock_resource "aws_apigatewayv2_api" {
  defaults = {
    id            = "mockapi"
    api_endpoint  = "https://mockapi.execute-api.eu-central-1.amazonaws.com"
    execution_arn = "arn:aws:execute-api:eu-central-1:111122223333:mockapi"
  }
}

mock_resource "aws_apigatewayv2_authorizer" {
  defaults = { id = "mockauthorizer" }
}

mock_resource "aws_apigatewayv2_integration" {
  defaults = { id = "mockintegration" }
}

mock_resource "aws_sns_topic" {
  defaults = { arn = "arn:aws:sns:eu-central-1:111122223333:mock" }
}

mock_resource "aws_cloudwatch_metric_alarm" {
  defaults = { arn = "arn:aws:cloudwatch:eu-central-1:111122223333:alarm:mock" }
}
