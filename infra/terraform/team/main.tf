# The inbox for a team without AWS credentials: a user pool of its own, and its pages behind an HTTP API. docs/adr/0082

terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "name" {
  description = "Name of the function, of the API and of the user pool."
  type        = string
}

variable "stage" {
  description = "The stage, as the pages show it."
  type        = string
}

variable "addresses" {
  description = "Who may sign in; Cognito invites each."
  type        = list(string)
}

variable "table" {
  description = "Name and ARN of the table of inquiries."
  type        = object({ name = string, arn = string })
}

variable "domain" {
  description = "Name of the pages, in place of the address that AWS gives; null: none."
  type        = string
}

variable "has_mail" {
  description = "Whether replies are mailed."
  type        = bool
}

variable "time_zone" {
  description = "Of the times in pages."
  type        = string
}

variable "is_protected" {
  description = "Whether the pool cannot be deleted."
  type        = bool
}

variable "package_file" {
  description = "The function's zip, as `npm run build` makes it."
  type        = string
}

variable "live_version" {
  description = "Version that is live in place of the newest; null: the newest."
  type        = string
}

variable "access_log" {
  description = "ARN of the log group, and the fields of the access log."
  type        = object({ arn = string, format = string })
}

variable "shared" {
  description = "What the functions of a stage have in common."
  type = object({
    region               = string
    permissions_boundary = string
    log_retention_days   = number
    tracing              = bool
  })
}

data "aws_caller_identity" "this" {}

locals {
  origin         = var.domain == null ? aws_apigatewayv2_api.this.api_endpoint : "https://${var.domain}"
  sign_in_origin = "https://${aws_cognito_user_pool_domain.this.domain}.auth.${var.shared.region}.amazoncognito.com"
}

# Apart from the pool of the form: its clients and tokens open nothing here.
resource "aws_cognito_user_pool" "this" {
  name                     = var.name
  deletion_protection      = var.is_protected ? "ACTIVE" : "INACTIVE"
  username_attributes      = ["email"]
  auto_verified_attributes = ["email"]
  mfa_configuration        = "ON"

  username_configuration { case_sensitive = false }
  admin_create_user_config { allow_admin_create_user_only = true }
  software_token_mfa_configuration { enabled = true }
  user_attribute_update_settings { attributes_require_verification_before_update = ["email"] }

  account_recovery_setting {
    recovery_mechanism {
      name     = "verified_email"
      priority = 1
    }
  }

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
  # Unique in the region, over all accounts.
  domain       = "${var.name}-${substr(sha256(data.aws_caller_identity.this.account_id), 0, 8)}"
  user_pool_id = aws_cognito_user_pool.this.id

  # Without managed_login_version the pages are the classic ones. docs/adr/0020
}

resource "aws_cognito_user_pool_client" "this" {
  name         = "inbox"
  user_pool_id = aws_cognito_user_pool.this.id

  # Public, with PKCE: no secret that a reader of the function's settings would see.
  generate_secret                      = false
  allowed_oauth_flows_user_pool_client = true
  allowed_oauth_flows                  = ["code"]
  allowed_oauth_scopes                 = ["email", "openid"]
  supported_identity_providers         = ["COGNITO"]
  callback_urls                        = ["${local.origin}/callback"]
  logout_urls                          = ["${local.origin}/"]
  prevent_user_existence_errors        = "ENABLED"
  enable_token_revocation              = true
  explicit_auth_flows                  = ["ALLOW_USER_SRP_AUTH"]
  read_attributes                      = ["email", "email_verified"]
  write_attributes                     = ["email"]

  # The ID token is the session; the others are not kept.
  id_token_validity      = 60
  access_token_validity  = 60
  refresh_token_validity = 60

  token_validity_units {
    id_token      = "minutes"
    access_token  = "minutes"
    refresh_token = "minutes"
  }
}

# Cognito mails the invitation, whose password proves the address.
resource "aws_cognito_user" "this" {
  for_each = toset(var.addresses)

  user_pool_id             = aws_cognito_user_pool.this.id
  username                 = each.key
  attributes               = { email = each.key, email_verified = "true" }
  desired_delivery_mediums = ["EMAIL"]
}

module "function" {
  source = "../function"

  name            = var.name
  description     = "Inquiry service, stage ${var.stage}: the pages of the inbox."
  package_file    = var.package_file
  handler         = "inbox/handler.handler"
  memory_mb       = 512
  timeout_seconds = 30
  live_version    = var.live_version
  shared          = var.shared

  # Neither scans nor deletes.
  statements = {
    Read = {
      Action   = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
      Resource = [var.table.arn, "${var.table.arn}/index/by-state"]
    }
    # As the policies of operators (bootstrap/policies.tf).
    Answer = {
      Action   = ["dynamodb:UpdateItem"]
      Resource = [var.table.arn]
      Condition = {
        "ForAllValues:StringEquals" = {
          "dynamodb:Attributes" = ["pk", "sk", "reply", "respondent", "reply_at", "inbox"]
        }
        "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = ["$inquiries#cognito_sub_*"] }
      }
    }
  }

  environment = {
    TABLE_NAME     = var.table.name
    STAGE          = var.stage
    ORIGIN         = local.origin
    ISSUER         = "https://${aws_cognito_user_pool.this.endpoint}"
    SIGN_IN_ORIGIN = local.sign_in_origin
    CLIENT_ID      = aws_cognito_user_pool_client.this.id
    TEAM           = join(",", var.addresses)
    MAIL           = var.has_mail ? "sent" : "none"
    TIME_ZONE      = var.time_zone
  }

  callers = { gateway = {
    principal  = "apigateway.amazonaws.com"
    source_arn = "${aws_apigatewayv2_api.this.execution_arn}/*/*"
  } }
}

resource "aws_apigatewayv2_api" "this" {
  name          = var.name
  description   = "The inbox of the inquiry service, stage ${var.stage}."
  protocol_type = "HTTP"

  disable_execute_api_endpoint = var.domain != null
}

resource "aws_apigatewayv2_integration" "this" {
  api_id                 = aws_apigatewayv2_api.this.id
  integration_type       = "AWS_PROXY"
  integration_method     = "POST"
  integration_uri        = module.function.alias.invoke_arn
  payload_format_version = "2.0"
  timeout_milliseconds   = 30000
}

# The function itself leads whoever is not signed in to the sign-in.
resource "aws_apigatewayv2_route" "this" {
  api_id    = aws_apigatewayv2_api.this.id
  route_key = "$default"
  target    = "integrations/${aws_apigatewayv2_integration.this.id}"
}

resource "aws_apigatewayv2_stage" "this" {
  api_id      = aws_apigatewayv2_api.this.id
  name        = "$default"
  auto_deploy = true

  access_log_settings {
    destination_arn = var.access_log.arn
    format          = var.access_log.format
  }

  # Anybody can call it; a team does not need more.
  default_route_settings {
    throttling_rate_limit  = 20
    throttling_burst_limit = 40
  }
}

output "url" {
  description = "Address of the inbox."
  value       = "${local.origin}/"
}

output "api" {
  description = "For the mapping of a domain."
  value       = { id = aws_apigatewayv2_api.this.id, stage = aws_apigatewayv2_stage.this.id }
}

output "version" {
  description = "As of the other functions."
  value       = module.function.version
}

output "log_group" {
  description = "The function's log."
  value       = module.function.log_group
}
