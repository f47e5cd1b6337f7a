locals {
  api_url = (
    try(local.dns.api, null) == "all"
    ? "https://${local.settings.domain.name}"
    : aws_apigatewayv2_api.this.api_endpoint
  )

  # Not ANY: with an authorizer it answers preflights with 401. The function answers all but GET and POST with 405.
  methods = toset(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])

  # The log has no personal data (docs/adr/0022).
  access_log_fields = {
    requestId          = "$context.requestId"
    requestTime        = "$context.requestTime"
    httpMethod         = "$context.httpMethod"
    routeKey           = "$context.routeKey"
    status             = "$context.status"
    protocol           = "$context.protocol"
    responseLength     = "$context.responseLength"
    responseLatency    = "$context.responseLatency"
    integrationStatus  = "$context.integration.status"
    integrationLatency = "$context.integration.latency"
    integrationError   = "$context.integration.error"
    functionRequestId  = "$context.integration.requestId"
    errorType          = "$context.error.responseType"
    authorizerError    = "$context.authorizer.error"
  }
}

resource "aws_apigatewayv2_api" "this" {
  name          = local.name
  description   = "Inquiry service, stage ${local.stage}."
  protocol_type = "HTTP"

  disable_execute_api_endpoint = try(local.dns.api, null) == "all"

  cors_configuration {
    allow_origins  = [local.cors_origin]
    allow_methods  = local.service.cors.allow_methods
    allow_headers  = local.service.cors.allow_headers
    expose_headers = local.service.cors.expose_headers
    max_age        = local.service.cors.max_age
  }
}

resource "aws_apigatewayv2_authorizer" "this" {
  api_id           = aws_apigatewayv2_api.this.id
  name             = "jwt"
  authorizer_type  = "JWT"
  identity_sources = ["$request.header.Authorization"]

  jwt_configuration {
    issuer   = local.issuer
    audience = local.audience
  }
}

resource "aws_apigatewayv2_integration" "this" {
  api_id                 = aws_apigatewayv2_api.this.id
  integration_type       = "AWS_PROXY"
  integration_method     = "POST"
  integration_uri        = module.function.alias.invoke_arn
  payload_format_version = "2.0"
  timeout_milliseconds   = 30000

  dynamic "response_parameters" {
    for_each = ["200", "201"]

    content {
      status_code = response_parameters.value
      mappings    = { "overwrite:header.cache-control" = "no-store" }
    }
  }
}

resource "aws_apigatewayv2_route" "this" {
  for_each = local.methods

  api_id             = aws_apigatewayv2_api.this.id
  route_key          = "${each.key} /inquiries"
  target             = "integrations/${aws_apigatewayv2_integration.this.id}"
  authorization_type = "JWT"
  authorizer_id      = aws_apigatewayv2_authorizer.this.id
}

# With this prefix, API Gateway adds no entry to the account's resource policy, whose size is limited.
resource "aws_cloudwatch_log_group" "access" {
  name              = "/aws/vendedlogs/apigateway/${local.name}"
  retention_in_days = local.settings.log_retention_days
}

resource "aws_apigatewayv2_stage" "this" {
  api_id      = aws_apigatewayv2_api.this.id
  name        = "$default"
  auto_deploy = true

  access_log_settings {
    destination_arn = aws_cloudwatch_log_group.access.arn
    format          = jsonencode(local.access_log_fields)
  }

  # The gateway takes a missing limit for 0 and answers every call with 429. Metrics per route are billed as custom
  # ones.
  default_route_settings {
    throttling_rate_limit  = local.settings.throttling.rate_limit
    throttling_burst_limit = local.settings.throttling.burst_limit
  }
}
