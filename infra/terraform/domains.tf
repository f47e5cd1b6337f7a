# Domains of API, form and inbox. In a hosted zone of this account the DNS records are made, too. Elsewhere `dns` says which of
# them exist: a certificate cannot be used before its record exists, nor a name before it points here.
locals {
  domains = {
    for use, setting in local.domain_settings : use => local.settings[setting]
    if local.settings[setting] != null && (use != "site" || local.has_site)
  }

  dns = {
    for use, domain in local.domains : use => (
      local.settings.hosted_zone != null ? "all"
      : domain.dns != null ? domain.dns
      : domain.certificate_arn != null ? "certificate" : "none"
    )
  }

  usable     = { for use, domain in local.domains : use => domain if local.dns[use] != "none" }
  site_alias = lookup(local.usable, "site", null)

  # Names without a certificate of their own. CloudFront takes those of us-east-1 only.
  requested = { for kind in ["api", "site"] : kind => toset([
    for use, domain in local.domains : domain.name if(use == "site") == (kind == "site") && domain.certificate_arn == null
  ]) }
  certificates = merge(aws_acm_certificate.api, aws_acm_certificate.site)

  used_certificates = { for each in keys(local.domain_settings) : each => [
    for use, domain in local.usable :
    coalesce(domain.certificate_arn, try(local.certificates[domain.name].arn, null)) if use == each
  ] }

  validation_records = {
    for name, certificate in local.certificates : name => one([
      for option in certificate.domain_validation_options : {
        name  = trimsuffix(option.resource_record_name, ".")
        type  = option.resource_record_type
        value = trimsuffix(option.resource_record_value, ".")
      }
    ])
  }

  targets = merge(
    { for name, domain in aws_apigatewayv2_domain_name.this : name => {
      name    = domain.domain_name_configuration[0].target_domain_name
      zone_id = domain.domain_name_configuration[0].hosted_zone_id
    } },
    { for domain in local.site_alias[*] : domain.name => {
      name    = module.site[0].distribution.domain_name
      zone_id = module.site[0].distribution.hosted_zone_id
    } },
  )
}

resource "aws_acm_certificate" "api" {
  for_each = local.requested.api

  domain_name       = each.key
  validation_method = "DNS"

  lifecycle { create_before_destroy = true }
}

resource "aws_acm_certificate" "site" {
  for_each = local.requested.site
  provider = aws.us_east_1

  domain_name       = each.key
  validation_method = "DNS"

  lifecycle { create_before_destroy = true }
}

# Waits until AWS has seen the record.
resource "aws_acm_certificate_validation" "api" {
  for_each = setintersection(local.requested.api, values(local.usable)[*].name)

  certificate_arn         = aws_acm_certificate.api[each.key].arn
  validation_record_fqdns = values(aws_route53_record.validation)[*].fqdn

  timeouts { create = "20m" }
}

resource "aws_acm_certificate_validation" "site" {
  for_each = setintersection(local.requested.site, values(local.usable)[*].name)
  provider = aws.us_east_1

  certificate_arn         = aws_acm_certificate.site[each.key].arn
  validation_record_fqdns = values(aws_route53_record.validation)[*].fqdn

  timeouts { create = "20m" }
}

data "aws_route53_zone" "this" {
  for_each = toset(local.settings.hosted_zone[*])

  name         = each.key
  private_zone = false
}

resource "aws_route53_record" "validation" {
  for_each = local.settings.hosted_zone == null ? [] : setunion(values(local.requested)...)

  zone_id         = one(values(data.aws_route53_zone.this)[*].zone_id)
  name            = local.validation_records[each.key].name
  type            = local.validation_records[each.key].type
  records         = [local.validation_records[each.key].value]
  ttl             = 300
  allow_overwrite = true # stages or regions with one name have the same record
}

# The execute-api hosts have no IPv6 address here; the distribution does.
resource "aws_route53_record" "address" {
  for_each = local.settings.hosted_zone == null ? {} : merge(
    { for use, domain in local.usable : "${domain.name} A" => domain },
    { for use, domain in local.usable : "${domain.name} AAAA" => domain if use == "site" },
  )

  zone_id = one(values(data.aws_route53_zone.this)[*].zone_id)
  name    = each.value.name
  type    = split(" ", each.key)[1]

  alias {
    name                   = local.targets[each.value.name].name
    zone_id                = local.targets[each.value.name].zone_id
    evaluate_target_health = false
  }
}

resource "aws_apigatewayv2_domain_name" "this" {
  for_each = { for use, domain in local.usable : domain.name => domain if use != "site" }

  domain_name = each.key

  domain_name_configuration {
    certificate_arn = (
      each.value.certificate_arn == null
      ? aws_acm_certificate_validation.api[each.key].certificate_arn
      : each.value.certificate_arn
    )
    endpoint_type   = "REGIONAL"
    security_policy = "TLS_1_2"
  }
}

resource "aws_apigatewayv2_api_mapping" "this" {
  for_each = { for use, domain in local.usable : domain.name => (
    use == "inbox" ? one(module.team[*].api)
    : { id = aws_apigatewayv2_api.this.id, stage = aws_apigatewayv2_stage.this.id }
  ) if use != "site" }

  api_id      = each.value.id
  domain_name = aws_apigatewayv2_domain_name.this[each.key].id
  stage       = each.value.stage
}
