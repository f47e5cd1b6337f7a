# Who read or changed what, of the tables and received mails of a stage. docs/roles.md

locals {
  audits = { for audit in var.audit[*] : "stages" => audit }

  trail     = "${var.name}-audit"
  trail_arn = "arn:${local.partition}:cloudtrail:${local.region}:${local.account}:trail/${local.trail}"

  functions_roles = {
    for stage, own in local.own : stage => formatlist(
      "arn:${local.partition}:sts::${local.account}:assumed-role/${own.name}%s-function/",
      ["", "-mailer", "-mailer-replies", "-receiver"],
    )
  }

  data_events = merge([for audit in local.audits : merge([for stage in audit.stages : {
    "${stage}-tables" = {
      stage     = stage
      type      = "AWS::DynamoDB::Table"
      resources = [local.own[stage].table] # the beginning of both tables' ARNs
    }
    "${stage}-mails" = {
      stage     = stage
      type      = "AWS::S3::Object"
      resources = ["arn:${local.partition}:s3:::${local.own[stage].name}-mails-${local.account}/"]
    }
  }]...)]...)
}

resource "aws_s3_bucket" "audit" {
  for_each = local.audits

  bucket = "${local.trail}-${local.account}-${local.region}"
}

resource "aws_s3_bucket_public_access_block" "audit" {
  for_each = aws_s3_bucket.audit

  bucket                  = each.value.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

# The keys in the events contain `sub` and email.
resource "aws_s3_bucket_lifecycle_configuration" "audit" {
  for_each = aws_s3_bucket.audit

  bucket = each.value.id

  rule {
    id     = "end"
    status = "Enabled"

    filter {}

    expiration { days = local.audits[each.key].days }
  }
}

resource "aws_s3_bucket_policy" "audit" {
  for_each = aws_s3_bucket.audit

  bucket = each.value.id

  # docs.aws.amazon.com/awscloudtrail/latest/userguide/create-s3-bucket-policy-for-cloudtrail.html
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "TrailLooks"
        Effect    = "Allow"
        Principal = { Service = "cloudtrail.amazonaws.com" }
        Action    = "s3:GetBucketAcl"
        Resource  = each.value.arn
        Condition = { StringEquals = { "aws:SourceArn" = local.trail_arn } }
      },
      {
        Sid       = "TrailWrites"
        Effect    = "Allow"
        Principal = { Service = "cloudtrail.amazonaws.com" }
        Action    = "s3:PutObject"
        Resource  = "${each.value.arn}/AWSLogs/${local.account}/*"
        Condition = { StringEquals = {
          "aws:SourceArn" = local.trail_arn
          "s3:x-amz-acl"  = "bucket-owner-full-control"
        } }
      },
      {
        Sid       = "OnlyTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "s3:*"
        Resource  = [each.value.arn, "${each.value.arn}/*"]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })

  # S3 refuses two changes of the bucket's access at the same time.
  depends_on = [aws_s3_bucket_public_access_block.audit]
}

resource "aws_cloudtrail" "audit" {
  for_each = aws_s3_bucket.audit

  name                       = local.trail
  s3_bucket_name             = each.value.id
  enable_log_file_validation = true

  dynamic "advanced_event_selector" {
    for_each = local.data_events

    content {
      name = advanced_event_selector.key

      field_selector {
        field  = "eventCategory"
        equals = ["Data"]
      }

      field_selector {
        field  = "resources.type"
        equals = [advanced_event_selector.value.type]
      }

      field_selector {
        field       = "resources.ARN"
        starts_with = advanced_event_selector.value.resources
      }

      field_selector {
        field           = "userIdentity.arn"
        not_starts_with = local.functions_roles[advanced_event_selector.value.stage]
      }
    }
  }

  depends_on = [aws_s3_bucket_policy.audit]
}
