locals {
  has_user_pool = local.settings.issuer == null

  issuer    = local.has_user_pool ? module.identity[0].issuer : local.settings.issuer
  audience  = local.has_user_pool ? [module.identity[0].client_id, local.smoke_client_id] : local.settings.audience
  client_id = local.has_user_pool ? module.identity[0].client_id : local.settings.audience[0]

  smoke_client_id = one(aws_cognito_user_pool_client.smoke[*].id)

  sign_in_origin = local.has_user_pool ? module.identity[0].sign_in_origin : null

  # Cognito alone sends 50 mails a day. It refuses an identity that SES has not verified: the deployment after that
  # changes the sender.
  pool_mails = local.has_user_pool ? [for inbox in local.inbox[*] : inbox if inbox.pool_mail] : []
  senders = flatten([
    for inbox in local.pool_mails : [
      for identity in concat(module.mailer[0].identities, values(data.aws_sesv2_email_identity.named)) :
      { identity_arn = identity.arn, address = inbox.from, configuration_set = module.mailer[0].configuration_set }
      if identity.verified_for_sending_status
    ]
  ])

  # The page is its own redirect address (web/README.md).
  form_urls = [for origin in distinct(compact([local.cors_origin, local.site_origin])) : "${origin}/"]
}

data "aws_sesv2_email_identity" "named" {
  for_each = toset([for inbox in local.pool_mails : inbox.identity if inbox.identity != null])

  email_identity = each.key
}

module "identity" {
  source = "./identity"
  count  = local.has_user_pool ? 1 : 0

  name         = local.name
  is_protected = local.deletion_protection_enabled
  sign_up      = local.settings.sign_up
  mfa          = local.settings.totp ? "OPTIONAL" : "OFF"
  senders      = local.senders

  client = {
    name          = "form"
    callback_urls = local.form_urls
    logout_urls   = local.form_urls
    session_hours = 30 * 24
  }
}

# The smoke test signs in its own user, with the permissions of whoever deploys.
resource "aws_cognito_user_pool_client" "smoke" {
  count = local.has_user_pool ? 1 : 0

  name         = "smoke"
  user_pool_id = module.identity[0].pool.id

  generate_secret               = false
  explicit_auth_flows           = ["ALLOW_ADMIN_USER_PASSWORD_AUTH"]
  prevent_user_existence_errors = "ENABLED"
  enable_token_revocation       = true
  read_attributes               = ["email", "email_verified"]
  write_attributes              = ["email"]

  id_token_validity      = 5
  access_token_validity  = 5
  refresh_token_validity = 60

  token_validity_units {
    id_token      = "minutes"
    access_token  = "minutes"
    refresh_token = "minutes"
  }
}

moved {
  from = module.identity[0].aws_cognito_user_pool_client.smoke
  to   = aws_cognito_user_pool_client.smoke[0]
}

moved {
  from = module.identity[0].aws_cognito_user_pool_client.form
  to   = module.identity[0].aws_cognito_user_pool_client.this
}
