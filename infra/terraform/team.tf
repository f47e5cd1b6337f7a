# The inbox as a page of the stage, with the setting inbox.team. docs/inbox.md
locals {
  team_name = "${local.name}-inbox"
  team_url  = one(module.team[*].url)
}

module "team" {
  source = "./team"
  count  = length(local.team) == 0 ? 0 : 1

  name      = local.team_name
  stage     = local.stage
  addresses = local.team
  table     = aws_dynamodb_table.this
  # The domain is null until its name leads there.
  domain       = try(local.dns.inbox, null) == "all" ? local.settings.inbox_domain.name : null
  has_mail     = local.inbox != null
  time_zone    = local.settings.inbox.time_zone
  is_protected = local.deletion_protection_enabled
  package_file = "${local.packages}/inbox.zip"
  live_version = var.live_inbox_version
  access_log   = { arn = aws_cloudwatch_log_group.access.arn, format = jsonencode(local.access_log_fields) }
  shared       = local.shared
}
