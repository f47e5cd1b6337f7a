locals {
  # Facts that the commands and the local gateway read, too (lib/stages.ts).
  service     = jsondecode(file("${path.module}/service.json"))
  stage_names = keys(local.service.stages)

  # The stage is the workspace and cannot be set otherwise, so that a plan always fits the state it is made
  # from. docs/adr/0020
  stage    = terraform.workspace
  settings = var.stages[terraform.workspace]
  inbox    = local.settings.inbox
  name     = "${var.name}-${local.stage}"

  # A stage whose API is for the page of another host (cors_origin) serves no form, unless it has a domain for it.
  has_site = coalesce(local.settings.site, local.settings.cors_origin == null || local.settings.site_domain != null)

  deletion_protection_enabled = coalesce(local.settings.deletion_protection_enabled, local.stage != "develop")
}
