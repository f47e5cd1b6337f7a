# A user pool with Cognito's pages, and the app client of a page that signs in.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "name" {
  description = "Name of the user pool."
  type        = string
}

variable "is_protected" {
  description = "Whether the pool cannot be deleted."
  type        = bool
}

variable "sign_up" {
  description = "Whether users may register themselves."
  type        = bool
}

variable "mfa" {
  description = "Whether an authenticator app is users' second factor: OFF, OPTIONAL or ON."
  type        = string
}

variable "senders" {
  description = "The identity in SES that the pool mails through; without one, Cognito mails itself."
  type        = list(object({ identity_arn = string, address = string, configuration_set = string }))
}

variable "client" {
  description = "The page, where Cognito may send users back to, and how long they stay signed in."
  type = object({
    name          = string
    callback_urls = list(string)
    logout_urls   = list(string)
    session_hours = number
  })
}

data "aws_caller_identity" "this" {}
data "aws_region" "this" {}

# Cognito resets what an update leaves out, so changes by hand or by the CLI are lost, or lose what is set here.
resource "aws_cognito_user_pool" "this" {
  name                     = var.name
  deletion_protection      = var.is_protected ? "ACTIVE" : "INACTIVE"
  username_attributes      = ["email"]
  auto_verified_attributes = ["email"]

  username_configuration { case_sensitive = false }

  admin_create_user_config { allow_admin_create_user_only = !var.sign_up }

  dynamic "email_configuration" {
    for_each = var.senders

    content {
      email_sending_account = "DEVELOPER"
      source_arn            = email_configuration.value.identity_arn
      from_email_address    = email_configuration.value.address
      configuration_set     = email_configuration.value.configuration_set
    }
  }

  mfa_configuration = var.mfa

  dynamic "software_token_mfa_configuration" {
    for_each = var.mfa == "OFF" ? [] : [true]

    content { enabled = true }
  }

  # An inquiry belongs to sub and email, so a new address takes effect once it is confirmed.
  user_attribute_update_settings { attributes_require_verification_before_update = ["email"] }

  account_recovery_setting {
    recovery_mechanism {
      name     = "verified_email"
      priority = 1
    }
  }

  # NIST SP 800-63B recommends length instead of composition.
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
  # The name is unique in the region, over all accounts.
  domain       = "${var.name}-${substr(sha256(data.aws_caller_identity.this.account_id), 0, 8)}"
  user_pool_id = aws_cognito_user_pool.this.id

  # Without managed_login_version the pages are the classic ones. docs/adr/0020
}

# The client is public, with the authorization code grant and PKCE, so that there is no secret to keep.
resource "aws_cognito_user_pool_client" "this" {
  name         = var.client.name
  user_pool_id = aws_cognito_user_pool.this.id

  generate_secret                      = false
  allowed_oauth_flows_user_pool_client = true
  allowed_oauth_flows                  = ["code"]
  allowed_oauth_scopes                 = ["email", "openid"]
  supported_identity_providers         = ["COGNITO"]
  callback_urls                        = var.client.callback_urls
  logout_urls                          = var.client.logout_urls
  prevent_user_existence_errors        = "ENABLED"
  enable_token_revocation              = true
  read_attributes                      = ["email", "email_verified"]
  write_attributes                     = ["email"]

  # Otherwise Cognito also refreshes by its own API, which excludes rotation.
  explicit_auth_flows = ["ALLOW_USER_SRP_AUTH"]

  id_token_validity      = 60
  access_token_validity  = 60
  refresh_token_validity = var.client.session_hours

  token_validity_units {
    id_token      = "minutes"
    access_token  = "minutes"
    refresh_token = "hours"
  }

  # The grace period is for responses that are lost.
  refresh_token_rotation {
    feature                    = "ENABLED"
    retry_grace_period_seconds = 60
  }
}

output "pool" {
  description = "The user pool."
  value       = aws_cognito_user_pool.this
}

output "issuer" {
  description = "The `iss` claim of its tokens."
  value       = "https://${aws_cognito_user_pool.this.endpoint}"
}

output "sign_in_origin" {
  description = "Origin of the sign-in pages and of the token endpoint; the issuer itself only has discovery and keys."
  value       = "https://${aws_cognito_user_pool_domain.this.domain}.auth.${data.aws_region.this.id}.amazoncognito.com"
}

output "client_id" {
  description = "The `aud` claim of the page's tokens."
  value       = aws_cognito_user_pool_client.this.id
}
