# Answers by mail, with the setting `replies`. docs/adr/0085

locals {
  replies = toset(var.settings.replies == null ? [] : ["received"])

  receiving_regions = jsondecode(file("${path.module}/../service.json")).receiving_regions

  # SES needs the permission of bucket and topic before the rule exists.
  receipt_rule_arn = "${local.ses}:receipt-rule-set/${var.receipt_rule_set}:receipt-rule/${var.name}"
}

resource "aws_s3_bucket" "mails" {
  for_each = local.replies

  # The name is unique over all accounts. AWS refuses to delete it while it has mails.
  bucket = "${var.name}-mails-${data.aws_caller_identity.this.account_id}"
}

resource "aws_s3_bucket_public_access_block" "mails" {
  for_each = aws_s3_bucket.mails

  bucket                  = each.value.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_lifecycle_configuration" "mails" {
  for_each = aws_s3_bucket.mails

  bucket = each.value.id

  # A mail stays until the queue forgets its event.
  rule {
    id     = "unhandled"
    status = "Enabled"

    filter {}

    expiration { days = 14 }
  }

  rule {
    id     = "handled"
    status = "Enabled"

    filter { prefix = "handled/" }

    expiration { days = 7 }

    abort_incomplete_multipart_upload { days_after_initiation = 1 }
  }
}

resource "aws_s3_bucket_policy" "mails" {
  for_each = aws_s3_bucket.mails

  bucket = each.value.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "SesStores"
        Effect    = "Allow"
        Principal = { Service = "ses.amazonaws.com" }
        Action    = "s3:PutObject"
        Resource  = "${each.value.arn}/*"
        Condition = { StringEquals = {
          "AWS:SourceAccount" = data.aws_caller_identity.this.account_id
          "AWS:SourceArn"     = local.receipt_rule_arn
        } }
      },
      merge(local.only_tls, { Action = "s3:*", Resource = [each.value.arn, "${each.value.arn}/*"] }),
    ]
  })

  depends_on = [aws_s3_bucket_public_access_block.mails]
}

resource "aws_ses_receipt_rule" "mails" {
  for_each = local.replies

  name          = var.name
  rule_set_name = var.receipt_rule_set
  recipients    = [var.settings.replies.domain]
  enabled       = true
  scan_enabled  = true
  tls_policy    = "Require"

  s3_action {
    position    = 1
    bucket_name = aws_s3_bucket.mails[each.key].id
    topic_arn   = aws_sns_topic.ses[each.key].arn
  }

  lifecycle {
    precondition {
      condition = contains(local.receiving_regions, data.aws_region.this.id)
      error_message = format(
        "Stage %s: inbox.replies needs a region in which SES receives mails: %s.",
        var.stage, join(", ", local.receiving_regions),
      )
    }
  }

  depends_on = [aws_s3_bucket_policy.mails, aws_sns_topic_policy.ses]
}

module "receiver" {
  source = "../function"
  count  = length(local.replies)

  name            = var.names.received
  description     = "Inquiry service, stage ${var.stage}: takes answers by mail."
  package_file    = var.package_file
  handler         = "receiver.handler"
  memory_mb       = 512
  timeout_seconds = local.timeout_seconds
  live_version    = var.live_versions.received
  shared          = var.shared

  environment = merge(local.environment, {
    REPLY_FROM         = join(",", var.settings.replies.from)
    MAIL_BUCKET        = aws_s3_bucket.mails["received"].id
    RETENTION_DAYS     = var.owner_settings.retention_days
    INQUIRIES_PER_HOUR = var.owner_settings.inquiries_per_hour
  })

  statements = merge(local.sending, local.reading, {
    # S3 answers 403 for a missing mail to who may not list.
    Mails = {
      Action   = ["s3:DeleteObject", "s3:GetObject", "s3:ListBucket"]
      Resource = [aws_s3_bucket.mails["received"].arn, "${aws_s3_bucket.mails["received"].arn}/*"]
    }
    Archive = { Action = ["s3:PutObject"], Resource = ["${aws_s3_bucket.mails["received"].arn}/handled/*"] }
    Answer = {
      Action   = ["dynamodb:UpdateItem"]
      Resource = [var.table.arn]
      Condition = {
        "ForAllValues:StringEquals" = {
          "dynamodb:Attributes" = ["pk", "sk", "reply", "reply_mail", "respondent", "reply_at", "additions", "files", "inbox"]
        }
        "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = ["$inquiries#cognito_sub_*"] }
      }
    }
  }, var.settings.replies.follow_ups ? var.storing : null)

  # Strangers fill the queue, and may not take the API's instances.
  queue = { arn = aws_sqs_queue.ses["received"].arn, maximum_concurrency = 2 }
}
