locals {
  # Also read by the commands and the local gateway (lib/aws/stages.ts).
  service     = jsondecode(file("${path.module}/service.json"))
  stage_names = keys(local.service.stages)

  # The stage is the workspace, so that a plan fits its state. docs/adr/0020
  stage    = terraform.workspace
  settings = var.stages[terraform.workspace]
  team     = try(local.settings.inbox.team, [])
  # It is null in a stage that has a team, but no mail.
  inbox   = try(local.settings.inbox.to, null) == null ? null : local.settings.inbox
  replies = try(local.inbox.replies, null)
  name    = "${var.name}-${local.stage}"

  # The setting that names each domain.
  domain_settings = { api = "domain", site = "site_domain", inbox = "inbox_domain" }

  # An API for another host's page comes without a form, unless the form has a domain.
  has_site = coalesce(local.settings.site, local.settings.cors_origin == null || local.settings.site_domain != null)

  deletion_protection_enabled = coalesce(local.settings.deletion_protection_enabled, local.stage != "develop")
  has_dashboard               = coalesce(local.settings.dashboard, local.stage != "develop")
  has_health_checks           = coalesce(local.settings.health_checks, local.stage != "develop")
}
