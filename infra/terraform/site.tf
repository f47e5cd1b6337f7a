locals {
  site_origin = (
    !local.has_site ? null
    : try(local.dns.site, null) == "all" ? "https://${local.settings.site_domain.name}"
    : "https://${module.site[0].distribution.domain_name}"
  )
  cors_origin = local.settings.cors_origin == null ? local.site_origin : local.settings.cors_origin

  # The form refuses keys without a value.
  form = {
    for key, value in merge({ answersFrom = one(local.inbox[*].from) }, local.settings.form[*]...) :
    key => value if value != null
  }

  # The API allows the distribution's origin, so its own address would be a cycle. docs/adr/0028
  site_connections = local.has_user_pool ? [
    "https://cognito-idp.${local.region}.amazonaws.com",
    local.sign_in_origin,
    (
      try(local.dns.api, null) == "all"
      ? "https://${local.settings.domain.name}"
      : "https://*.execute-api.${local.region}.amazonaws.com"
    ),
  ] : ["https:"]
}

module "site" {
  source    = "./site"
  count     = local.has_site ? 1 : 0
  providers = { aws = aws, aws.us_east_1 = aws.us_east_1 }

  name               = local.name
  connections        = local.site_connections
  log_retention_days = local.settings.form_log ? local.settings.log_retention_days : null
  domain = local.site_alias == null ? null : {
    name = local.site_alias.name
    certificate_arn = coalesce(
      local.site_alias.certificate_arn, one(values(aws_acm_certificate_validation.site)[*].certificate_arn),
    )
  }
}
