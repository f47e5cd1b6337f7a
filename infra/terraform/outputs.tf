output "stage" {
  description = "The stage this workspace deploys."
  value       = local.stage
}

output "api_url" {
  description = "Base URL of the API, without a trailing slash; the service is at this URL plus /inquiries."
  value       = local.settings.domain == null ? aws_apigatewayv2_api.this.api_endpoint : "https://${local.settings.domain.name}"

  # The custom domain works only with the mapping.
  depends_on = [aws_apigatewayv2_api_mapping.this]
}

output "cors_origin" {
  description = "The one origin browsers may call from; the smoke test sends its preflight from there."
  value       = local.settings.cors_origin
}

output "domain_target" {
  description = "Where the custom domain's DNS record must point (name and hosted zone id); null without a custom domain."
  value = one([for domain in aws_apigatewayv2_domain_name.this : {
    name           = domain.domain_name_configuration[0].target_domain_name
    hosted_zone_id = domain.domain_name_configuration[0].hosted_zone_id
  }])
}

output "table_name" {
  description = "Name of the table that holds the inquiries."
  value       = aws_dynamodb_table.this.name
}

output "function_name" {
  description = "Name of the function."
  value       = aws_lambda_function.this.function_name
}

output "log_group_name" {
  description = "Log group of the function: one line per request, and Lambda's report line per invocation."
  value       = aws_cloudwatch_log_group.function.name
}

output "access_log_group_name" {
  description = "Log group of the gateway: one line per request, without personal data."
  value       = aws_cloudwatch_log_group.access.name
}

output "dashboard_url" {
  description = "The dashboard in the CloudWatch console."
  value       = "https://${data.aws_region.current.id}.console.aws.amazon.com/cloudwatch/home?region=${data.aws_region.current.id}#dashboards/dashboard/${aws_cloudwatch_dashboard.this.dashboard_name}"
}
