locals {
  stage_names = ["develop", "main", "release"]

  # The stage is the workspace and cannot be set otherwise, so that a plan always fits the state it is made from. docs/adr/0020
  stage    = terraform.workspace
  settings = var.stages[terraform.workspace]
  name     = "${var.name}-${local.stage}"

  permissions_boundary = lookup(var.permissions_boundaries, local.stage, null)

  deletion_protection_enabled = coalesce(local.settings.deletion_protection_enabled, local.stage != "develop")

  issuer_pattern = "^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[^?#\\s]*)?$"
  origin_pattern = "^https?://([a-z0-9-]+(\\.[a-z0-9-]+)*|\\[[0-9a-f:]+\\])(:[0-9]+)?$"

  # As web/src/config.ts takes them.
  link_pattern = "^https://[\\p{L}\\p{N}.-]+(:[0-9]+)?([/?#]\\S*)?$"
  logo_pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*\\.(svg|png|jpg|jpeg|webp)$"

  # The files of web/src/languages.
  languages = ["en", "de", "fr", "es", "ja", "ar"]

  domain_pattern = "^[a-z0-9-]+(\\.[a-z0-9-]+)+$"

  # A dot-atom and a domain name in lower case, as src/mailer/text.ts takes them.
  address_pattern = "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"

  # The retention periods that the CloudWatch Logs API accepts.
  log_retention_days = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653]
}
