output "api_url" {
  description = "Base URL of the API, without a trailing slash."
  value       = local.api_url

  depends_on = [aws_apigatewayv2_api_mapping.this]
}

output "cors_origin" {
  description = "The one origin browsers may call from."
  value       = local.cors_origin
}

output "function" {
  description = "The function, the hash of its package, and the earlier version that live_version keeps."
  value       = module.function.version
}

output "mailer" {
  description = "The same of the mailer's functions; empty without the setting inbox."
  value       = merge(module.mailer[*].versions...)
}

output "inbox" {
  description = "The same of the inbox's function, and its address; null without a team."
  value       = one([for team in module.team : merge(team.version, { url = team.url })])
}

output "site" {
  description = "Where the form is uploaded to, and its address; null without one."
  value = local.has_site ? {
    bucket          = module.site[0].bucket.id
    distribution_id = module.site[0].distribution.id
    url             = "${local.site_origin}/"
  } : null
}

output "form_config" {
  description = "The form's config.json; null without a form."
  value = local.has_site ? merge(local.form, {
    issuer   = local.issuer
    clientId = local.client_id
    apiUrl   = local.api_url
  }) : null
}

output "connect_origins" {
  description = "Origins that the form connects to; none with an issuer of your own."
  value       = local.has_user_pool ? [regex("^https://[^/]+", local.issuer), local.sign_in_origin, local.api_url] : []
}

output "smoke_sign_in" {
  description = "How the smoke test signs in; null with an issuer of your own."
  value = local.has_user_pool ? {
    user_pool_id = module.identity[0].pool.id
    client_id    = local.smoke_client_id
  } : null
}

output "dns_records" {
  description = "DNS records to be entered by hand, and what to set afterwards."
  value = concat(
    [for use, domain in local.domains : merge(local.validation_records[domain.name], {
      domain  = domain.name
      purpose = "validates the certificate"
      next    = "set dns = \"certificate\" in ${local.domain_settings[use]}"
    }) if local.dns[use] == "none"],
    [for use, domain in local.domains : {
      domain  = domain.name
      purpose = "points to the ${ { api = "API", site = "form", inbox = "inbox" }[use]}"
      name    = domain.name
      type    = "CNAME"
      value   = local.targets[domain.name].name
      next    = "set dns = \"all\" in ${local.domain_settings[use]}"
    } if local.dns[use] == "certificate"],
  )
}

output "dashboard_url" {
  description = "The dashboard in the CloudWatch console; null without one."
  value = one([for dashboard in aws_cloudwatch_dashboard.this : join("#", [
    "https://${local.region}.console.aws.amazon.com/cloudwatch/home?region=${local.region}",
    "dashboards/dashboard/${dashboard.dashboard_name}",
  ])])
}

output "mail" {
  description = "Address and identity in SES of the mails; null without inbox."
  value = one([for inbox in local.inbox[*] : {
    from     = inbox.from
    identity = coalesce(inbox.identity, split("@", inbox.from)[1])
  }])
}

output "reply_from" {
  description = "Who may answer by mail; null without replies."
  value       = one(local.replies[*].from)
}

output "mail_dns_records" {
  description = "DNS records by which SES verifies the domain of the mails (DKIM), and receives answers (MX)."
  value       = flatten(module.mailer[*].dns_records)
}
