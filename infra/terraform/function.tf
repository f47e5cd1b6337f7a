locals {
  packages = "${path.module}/../../dist"

  # Both are in the service's specification.
  timeout_seconds = 30
  memory_mb       = 128

  shared = {
    region               = local.region
    permissions_boundary = lookup(var.permissions_boundaries, local.stage, null)
    log_retention_days   = local.settings.log_retention_days
    tracing              = local.settings.tracing
  }

  # The receiver has these permissions, too, if it makes inquiries of mails.
  storing = {
    Inquiries = { Action = ["dynamodb:PutItem", "dynamodb:Query"], Resource = [aws_dynamodb_table.this.arn] }
    # Partition keys of src/entities/rate.ts: the function cannot change an inquiry.
    Rates = local.settings.inquiries_per_hour == null ? null : {
      Action    = ["dynamodb:UpdateItem"]
      Resource  = [aws_dynamodb_table.this.arn]
      Condition = { "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = ["$inquiries#owner_hour_*"] } }
    }
    # AWS does not document whether LeadingKeys has the keys of a transaction's update only, or of all its writes.
    RatesInTransactions = local.settings.inquiries_per_hour == null ? null : {
      Action   = ["dynamodb:UpdateItem"]
      Resource = [aws_dynamodb_table.this.arn]
      Condition = {
        "ForAnyValue:StringLike"   = { "dynamodb:LeadingKeys" = ["$inquiries#owner_hour_*"] }
        "ForAnyValue:StringEquals" = { "dynamodb:EnclosingOperation" = ["TransactWriteItems"] }
      }
    }
  }
}

module "function" {
  source = "./function"

  name                 = local.name
  description          = "Inquiry service, stage ${local.stage}: lists and creates the caller's inquiries."
  package_file         = "${local.packages}/inquiries.zip"
  handler              = "handler.handler"
  memory_mb            = local.memory_mb
  timeout_seconds      = local.timeout_seconds
  reserved_concurrency = local.settings.reserved_concurrency
  live_version         = var.live_version
  shared               = local.shared
  statements           = local.storing

  environment = {
    TABLE_NAME         = aws_dynamodb_table.this.name
    CORS_ORIGIN        = local.cors_origin
    RETENTION_DAYS     = local.settings.retention_days
    INQUIRIES_PER_HOUR = local.settings.inquiries_per_hour
    HASH_KEY           = local.hash_key
    STORED_FOR_MAIL    = local.inbox == null ? null : join(",", local.stored_for_mail)
  }

  callers = { for method in local.methods : "gateway-${lower(method)}" => {
    principal  = "apigateway.amazonaws.com"
    source_arn = "${aws_apigatewayv2_api.this.execution_arn}/*/${method}/inquiries"
  } }
}
