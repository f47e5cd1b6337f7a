# The stage's own user pool, unless its settings name another issuer: users sign up with their email, on pages
# of Cognito.
locals {
  has_user_pool = local.settings.issuer == null

  issuer    = local.has_user_pool ? "https://${one(aws_cognito_user_pool.this[*].endpoint)}" : local.settings.issuer
  audience  = local.has_user_pool ? [local.client_id, one(aws_cognito_user_pool_client.smoke[*].id)] : local.settings.audience
  client_id = local.has_user_pool ? one(aws_cognito_user_pool_client.form[*].id) : local.settings.audience[0]

  # The token and sign-in endpoints; the issuer itself only has discovery and keys.
  sign_in_origin = local.has_user_pool ? "https://${one(aws_cognito_user_pool_domain.this[*].domain)}.auth.${local.region}.amazoncognito.com" : null

  # Cognito alone sends 50 mails a day for all users of the account. It refuses an identity that SES has not
  # verified yet: the deployment after that changes the sender.
  pool_mails = local.has_user_pool ? [for inbox in local.inbox[*] : inbox if inbox.pool_mail] : []
  pool_mail_identities = length(local.pool_mails) == 0 ? [] : [
    for identity in concat(values(aws_sesv2_email_identity.this), values(data.aws_sesv2_email_identity.named)) : identity.arn if identity.verified_for_sending_status
  ]

  # Where Cognito may send users back to: the page is its own redirect address (web/README.md).
  form_urls = [for origin in distinct(compact([local.cors_origin, local.site_origin])) : "${origin}/"]
}

data "aws_sesv2_email_identity" "named" {
  for_each = toset([for inbox in local.pool_mails : inbox.identity if inbox.identity != null])

  email_identity = each.key
}

# Cognito resets what an update leaves out: a change of the pool by hand, a trigger or a text for example, is
# lost with the next change here, and one by the CLI loses what is set here.
resource "aws_cognito_user_pool" "this" {
  count = local.has_user_pool ? 1 : 0

  name                     = local.name
  deletion_protection      = local.deletion_protection_enabled ? "ACTIVE" : "INACTIVE"
  username_attributes      = ["email"]
  auto_verified_attributes = ["email"]

  username_configuration { case_sensitive = false }

  admin_create_user_config { allow_admin_create_user_only = !local.settings.sign_up }

  dynamic "email_configuration" {
    for_each = local.pool_mail_identities

    content {
      email_sending_account = "DEVELOPER"
      source_arn            = email_configuration.value
      from_email_address    = local.inbox.from
      configuration_set     = aws_sesv2_configuration_set.mail[0].configuration_set_name
    }
  }

  mfa_configuration = local.settings.totp ? "OPTIONAL" : "OFF"

  dynamic "software_token_mfa_configuration" {
    for_each = local.settings.totp ? [true] : []

    content { enabled = true }
  }

  # An inquiry belongs to the sub and the email: a new address takes effect only when its owner has confirmed it.
  user_attribute_update_settings { attributes_require_verification_before_update = ["email"] }

  account_recovery_setting {
    recovery_mechanism {
      name     = "verified_email"
      priority = 1
    }
  }

  # Length instead of composition, as NIST SP 800-63B recommends.
  password_policy {
    minimum_length                   = 12
    require_lowercase                = false
    require_numbers                  = false
    require_symbols                  = false
    require_uppercase                = false
    temporary_password_validity_days = 7
  }
}

resource "aws_cognito_user_pool_domain" "this" {
  count = local.has_user_pool ? 1 : 0

  # A prefix is unique in its region, over all accounts.
  domain       = "${local.name}-${substr(sha256(local.account_id), 0, 8)}"
  user_pool_id = aws_cognito_user_pool.this[0].id

  # Without managed_login_version the pages are the classic ones. The newer ones show nothing before a style
  # is made for them, which provider 5.100 cannot do.
}

# The form: a public client, with the authorization code grant, for which its library uses PKCE.
resource "aws_cognito_user_pool_client" "form" {
  count = local.has_user_pool ? 1 : 0

  name         = "form"
  user_pool_id = aws_cognito_user_pool.this[0].id

  generate_secret                      = false
  allowed_oauth_flows_user_pool_client = true
  allowed_oauth_flows                  = ["code"]
  allowed_oauth_scopes                 = ["email", "openid"]
  supported_identity_providers         = ["COGNITO"]
  callback_urls                        = local.form_urls
  logout_urls                          = local.form_urls
  prevent_user_existence_errors        = "ENABLED"
  enable_token_revocation              = true
  read_attributes                      = ["email", "email_verified"]
  write_attributes                     = ["email"]

  # Without a value Cognito also allows refreshing by its own API, which it refuses together with rotation.
  explicit_auth_flows = ["ALLOW_USER_SRP_AUTH"]

  id_token_validity      = 60
  access_token_validity  = 60
  refresh_token_validity = 30

  token_validity_units {
    id_token      = "minutes"
    access_token  = "minutes"
    refresh_token = "days"
  }

  # Each refresh token is used once; the grace period is for answers that are lost.
  refresh_token_rotation {
    feature                    = "ENABLED"
    retry_grace_period_seconds = 60
  }
}

# The smoke test after a deployment: signs in a user of its own with the permissions of whoever deploys.
resource "aws_cognito_user_pool_client" "smoke" {
  count = local.has_user_pool ? 1 : 0

  name         = "smoke"
  user_pool_id = aws_cognito_user_pool.this[0].id

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
