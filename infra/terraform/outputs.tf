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

output "inbox_policy_arns" {
  description = "Policies for operators: `all` for every verb of npm run inbox, `answer` for every verb but erase."
  value = {
    all    = aws_iam_policy.inbox.arn
    answer = aws_iam_policy.inbox_answer.arn
  }
}

output "erasures_table_name" {
  description = "Name of the table that records erasures."
  value       = aws_dynamodb_table.erasures.name
}

output "mailer_function_name" {
  description = "Name of the mailer; null without the setting inbox."
  value       = one(aws_lambda_function.mailer[*].function_name)
}

output "dead_letter_queue_url" {
  description = "Queue of the mails that were given up; null without the setting inbox."
  value       = one(aws_sqs_queue.dead_letters[*].url)
}

output "mail_dns_records" {
  description = "DNS records by which SES verifies the domain of the mails (DKIM); none if the stage creates no identity."
  value = flatten([for domain, identity in aws_sesv2_email_identity.this : [
    for token in identity.dkim_signing_attributes[0].tokens : {
      name  = "${token}._domainkey.${domain}"
      type  = "CNAME"
      value = "${token}.dkim.amazonses.com"
    }
  ]])
}
