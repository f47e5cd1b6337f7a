locals {
  # Facts that the commands and the local gateway read, too (lib/stages.ts).
  service     = jsondecode(file("${path.module}/service.json"))
  stage_names = keys(local.service.stages)

  # The stage is the workspace and cannot be set otherwise, so that a plan always fits the state it is made
  # from. docs/adr/0020
  stage    = terraform.workspace
  settings = var.stages[terraform.workspace]
  name     = "${var.name}-${local.stage}"

  permissions_boundary = lookup(var.permissions_boundaries, local.stage, null)

  deletion_protection_enabled = coalesce(local.settings.deletion_protection_enabled, local.stage != "develop")
}
