locals {
  mailer_names  = { inquiries = "${local.name}-mailer", replies = "${local.name}-mailer-replies" }
  receiver_name = "${local.name}-receiver"

  company = jsonencode(merge(
    {
      for key in ["name", "accent", "home", "privacy", "imprint", "expectation"] : key => local.form[key]
      if contains(keys(local.form), key)
    },
    { for origin in local.site_origin[*] : "form" => "${origin}/" },
  ))
}

module "mailer" {
  source = "./mailer"
  count  = local.inbox == null ? 0 : 1

  name          = local.name
  names         = merge(local.mailer_names, { received = local.receiver_name })
  stage         = local.stage
  settings      = local.inbox
  company       = local.company
  table         = aws_dynamodb_table.this
  package_file  = "${local.packages}/mailer.zip"
  live_versions = var.live_mailer_versions
  storing       = local.storing
  shared        = local.shared
  hash_key      = local.hash_key
  inbox_url     = local.team_url

  receipt_rule_set = var.name
  owner_settings   = local.settings
}
