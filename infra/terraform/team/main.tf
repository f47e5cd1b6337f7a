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

locals {
  origin = var.domain == null ? aws_apigatewayv2_api.this.api_endpoint : "https://${var.domain}"
}

# Apart from the pool of the form: its clients and tokens open nothing here.
module "identity" {
  source = "../identity"

  name         = var.name
  is_protected = var.is_protected
  sign_up      = false
  mfa          = "ON"
  senders      = []

  # The ID token is the session; the others are not kept.
  client = {
    name          = "inbox"
    callback_urls = ["${local.origin}/callback"]
    logout_urls   = ["${local.origin}/"]
    session_hours = 1
  }
}

moved {
  from = aws_cognito_user_pool.this
  to   = module.identity.aws_cognito_user_pool.this
}

moved {
  from = aws_cognito_user_pool_client.this
  to   = module.identity.aws_cognito_user_pool_client.this
}

moved {
  from = aws_cognito_user_pool_domain.this
  to   = module.identity.aws_cognito_user_pool_domain.this
}

# Cognito mails the invitation, whose password proves the address.
resource "aws_cognito_user" "this" {
  for_each = toset(var.addresses)

  user_pool_id             = module.identity.pool.id
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

  # The function neither scans nor deletes.
  statements = {
    Read = {
      Action   = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
      Resource = [var.table.arn, "${var.table.arn}/index/by-state"]
    }
    # The policies of operators allow the same (bootstrap/policies.tf).
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
    ISSUER         = module.identity.issuer
    SIGN_IN_ORIGIN = module.identity.sign_in_origin
    CLIENT_ID      = module.identity.client_id
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

  # Anybody can call the API, and a team does not need more.
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
