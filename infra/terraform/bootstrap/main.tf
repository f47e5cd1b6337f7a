data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.id
}

# The APIs of existing stages, which have no names in IAM. Apply again after a stage's first deployment.
data "aws_apigatewayv2_apis" "stage" {
  for_each = var.github == null ? [] : local.stages

  tags = { service = var.name, stage = each.key }
}

data "aws_resourcegroupstaggingapi_resources" "health_checks" {
  for_each = var.github == null ? [] : local.stages
  provider = aws.us_east_1

  resource_type_filters = ["route53:healthcheck"]

  tag_filter {
    key    = "service"
    values = [var.name]
  }

  tag_filter {
    key    = "stage"
    values = [each.key]
  }
}

# `npm run bootstrap` creates it, since it has this module's state.
import {
  to = aws_s3_bucket.state
  id = var.bucket
}

resource "aws_s3_bucket" "state" {
  bucket = var.bucket

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_versioning" "state" {
  bucket = aws_s3_bucket.state.id

  versioning_configuration { status = "Enabled" }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "state" {
  bucket = aws_s3_bucket.state.id

  rule {
    apply_server_side_encryption_by_default { sse_algorithm = "AES256" }
  }
}

resource "aws_s3_bucket_ownership_controls" "state" {
  bucket = aws_s3_bucket.state.id

  rule { object_ownership = "BucketOwnerEnforced" }
}

resource "aws_s3_bucket_public_access_block" "state" {
  bucket = aws_s3_bucket.state.id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_policy" "state" {
  bucket = aws_s3_bucket.state.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OnlyTls"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [local.state_bucket_arn, "${local.state_bucket_arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })

  depends_on = [aws_s3_bucket_public_access_block.state]
}

# Every lock leaves a version. The newest 20 of each object stay.
resource "aws_s3_bucket_lifecycle_configuration" "state" {
  bucket = aws_s3_bucket.state.id

  rule {
    id     = "old-versions"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days           = 365
      newer_noncurrent_versions = 20
    }

    abort_incomplete_multipart_upload { days_after_initiation = 7 }
  }

  depends_on = [aws_s3_bucket_versioning.state]
}

# Stages with `replies` add their rules. One set is active in an account and region (botocore, ses:
# SetActiveReceiptRuleSet).
resource "aws_ses_receipt_rule_set" "this" {
  for_each = toset(local.received)

  rule_set_name = var.name
}

resource "aws_ses_active_receipt_rule_set" "this" {
  for_each = toset(local.received)

  rule_set_name = aws_ses_receipt_rule_set.this[each.key].rule_set_name
}

# The budget is that of the whole account, which has no cost allocation tags at first.
resource "aws_budgets_budget" "monthly" {
  for_each = { for budget in var.budget[*] : "account" => budget }

  name         = "${var.name}-${local.region}"
  budget_type  = "COST"
  limit_amount = tostring(each.value.monthly_usd)
  limit_unit   = "USD"
  time_unit    = "MONTHLY"

  dynamic "notification" {
    for_each = { ACTUAL = 80, FORECASTED = 100 }

    content {
      comparison_operator        = "GREATER_THAN"
      notification_type          = notification.key
      threshold                  = notification.value
      threshold_type             = "PERCENTAGE"
      subscriber_email_addresses = [each.value.email]
    }
  }
}
