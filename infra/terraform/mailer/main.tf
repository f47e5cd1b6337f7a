# Mail of new inquiries and answers, from the table's stream (docs/adr/0080).

terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "name" {
  description = "Of the stage and of its configuration set in SES."
  type        = string
}

variable "names" {
  description = "Of the functions, by the kind of their mails."
  type        = map(string)
}

variable "stage" {
  description = "The stage."
  type        = string
}

variable "settings" {
  description = "The stage's setting `inbox`."
  type = object({
    to                     = string
    from                   = string
    identity               = string
    mails_per_hour         = number
    total_mails_per_hour   = number
    parallelization_factor = number
    language               = string
    time_zone              = string
    acknowledge            = bool
    answer_within          = number
    requires_tls           = bool
    links_only             = bool
    replies                = object({ domain = string, from = list(string), follow_ups = bool, files = bool })
  })
}

variable "company" {
  description = "What mails to owners show, as JSON (mail/config.ts)."
  type        = string
}

variable "inbox_url" {
  description = "Address of the team's page; null: none."
  type        = string
}

variable "table" {
  description = "With the stream that is read."
  type        = object({ name = string, arn = string, stream_arn = string })
}

variable "package_file" {
  description = "The functions' zip."
  type        = string
}

variable "live_versions" {
  description = "Versions that are live in place of the newest."
  type        = map(string)
}

variable "receipt_rule_set" {
  description = "The account's active receipt rule set."
  type        = string
}

variable "hash_key" {
  description = "Of hashes of persons in the table's counts."
  type        = string
}

variable "owner_settings" {
  description = "The stage's settings for the inquiries of an owner."
  type        = object({ retention_days = number, inquiries_per_hour = number })
}

variable "storing" {
  description = "What a role needs to store inquiries, by Sid."
  type = map(object({
    Action    = list(string)
    Resource  = list(string)
    Condition = optional(map(map(list(string))))
  }))
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
  name = var.names.inquiries
  ses = join(":", [
    "arn", data.aws_partition.this.partition, "ses", data.aws_region.this.id, data.aws_caller_identity.this.account_id,
  ])

  environment = {
    TABLE_NAME           = var.table.name
    HASH_KEY             = var.hash_key
    INBOX_TO             = var.settings.to
    INBOX_FROM           = var.settings.from
    MAILS_PER_HOUR       = var.settings.mails_per_hour
    TOTAL_MAILS_PER_HOUR = var.settings.total_mails_per_hour
    ANSWER_WITHIN        = var.settings.answer_within
    STAGE                = var.stage
    MAIL_LANGUAGE        = var.settings.language
    TIME_ZONE            = var.settings.time_zone
    INBOX_URL            = var.inbox_url
    ACKNOWLEDGE          = var.settings.acknowledge
    COMPANY              = var.company
    LINKS_ONLY           = var.settings.links_only

    CONFIGURATION_SET      = var.name
    TEAM_CONFIGURATION_SET = aws_sesv2_configuration_set.team.configuration_set_name

    REPLY_DOMAIN = one(var.settings.replies[*].domain)
    FOLLOW_UPS   = one(var.settings.replies[*].follow_ups)
    FILES        = one(var.settings.replies[*].files)
  }

  # Lambda takes one event source mapping of a stream and a function (aws/serverless-application-model#1320).
  # docs/adr/0080
  stream_filters = jsondecode(file("${path.module}/../stream-filters.json"))

  sending = {
    # Partition keys of src/entities/delivery.ts and reply-keys.ts: the mailer cannot write an inquiry.
    Records = {
      Action   = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
      Resource = [var.table.arn]
      Condition = {
        "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = concat(
          ["$inquiries#inquiry_*", "$inquiries#quota_*"],
          [for kind in local.replies : "$inquiries#month_*"],
        ) }
      }
    }
    # SES also requires the permission on recipients' identities that the account has (in the sandbox, of all) and on an
    # identity's default configuration set.
    Mail = {
      Action    = ["ses:SendEmail"]
      Resource  = ["${local.ses}:configuration-set/*", "${local.ses}:identity/*"]
      Condition = { StringEquals = { "ses:FromAddress" = [var.settings.from] } }
    }
  }

  reading = {
    Rows  = { Action = ["dynamodb:GetItem"], Resource = [var.table.arn] }
    Index = { Action = ["dynamodb:Query"], Resource = ["${var.table.arn}/index/by-state"] }
  }

  functions = merge(
    { inquiries = module.inquiries, replies = module.replies },
    { for receiver in module.receiver : "received" => receiver },
  )

  timeout_seconds = 60

  only_tls = {
    Sid       = "OnlyTls"
    Effect    = "Deny"
    Principal = "*"
    Condition = { Bool = { "aws:SecureTransport" = "false" } }
  }

  # Regions with their own zone of DKIM keys (docs.aws.amazon.com/general/latest/gr/ses.html, "DKIM domains"); the
  # provider does not export SES's SigningHostedZone.
  own_dkim_zones = [
    "af-south-1", "ap-northeast-3", "ap-south-2", "ap-southeast-3", "ap-southeast-5", "ca-west-1",
    "eu-central-2", "eu-south-1", "il-central-1", "me-central-1", "us-gov-east-1",
  ]
  dkim_zone = join(".", concat(["dkim"], [for zone in local.own_dkim_zones : zone if zone == data.aws_region.this.id]))
}

data "aws_caller_identity" "this" {}
data "aws_partition" "this" {}
data "aws_region" "this" {}

# One stage creates the domain's identity, others name it in `identity`.
resource "aws_sesv2_email_identity" "this" {
  for_each = toset(var.settings.identity == null ? [split("@", var.settings.from)[1]] : [])

  email_identity = each.key

  dkim_signing_attributes { next_signing_key_length = "RSA_2048_BIT" }
}

# Otherwise SES forwards bounces to `from` (botocore, sesv2: PutEmailIdentityFeedbackAttributes).
resource "aws_sesv2_email_identity_feedback_attributes" "this" {
  for_each = aws_sesv2_email_identity.this

  email_identity           = each.value.email_identity
  email_forwarding_enabled = false
}

# The user pool's mails have this set, too: alarms count them, and addresses with a bounce or complaint get no more.
resource "aws_sesv2_configuration_set" "this" {
  configuration_set_name = var.name

  suppression_options { suppressed_reasons = ["BOUNCE", "COMPLAINT"] }

  delivery_options { tls_policy = var.settings.requires_tls ? "REQUIRE" : "OPTIONAL" }
}

resource "aws_sesv2_configuration_set" "team" {
  configuration_set_name = "${var.name}-team"

  suppression_options { suppressed_reasons = ["BOUNCE", "COMPLAINT"] }
  delivery_options { tls_policy = "REQUIRE" }
}

resource "aws_sesv2_configuration_set_event_destination" "team" {
  for_each = local.configuration_sets

  configuration_set_name = each.value.configuration_set_name
  event_destination_name = "team"

  event_destination {
    enabled              = true
    matching_event_types = ["BOUNCE", "COMPLAINT"]

    sns_destination { topic_arn = aws_sns_topic.ses["inquiries"].arn }
  }

  depends_on = [aws_sns_topic_policy.ses]
}

resource "aws_sesv2_configuration_set_event_destination" "metrics" {
  for_each = local.configuration_sets

  configuration_set_name = each.value.configuration_set_name
  event_destination_name = "metrics"

  event_destination {
    enabled              = true
    matching_event_types = ["BOUNCE", "COMPLAINT", "SEND"]

    cloud_watch_destination {
      dimension_configuration {
        dimension_name          = "ses:configuration-set"
        dimension_value_source  = "MESSAGE_TAG"
        default_dimension_value = each.value.configuration_set_name
      }
    }
  }
}

# The queue has records that Lambda gave up, by their place in the stream, and events of SES.
resource "aws_sqs_queue" "dead_letters" {
  name                      = "${local.name}-dead-letters"
  message_retention_seconds = 14 * 24 * 60 * 60
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "dead_letters" {
  queue_url = aws_sqs_queue.dead_letters.url

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [merge(local.only_tls, { Action = "sqs:*", Resource = aws_sqs_queue.dead_letters.arn })]
  })
}

module "inquiries" {
  source = "../function"

  name            = var.names.inquiries
  description     = "Inquiry service, stage ${var.stage}: mails new inquiries to the team."
  package_file    = var.package_file
  handler         = "mailer.handler"
  memory_mb       = 256
  timeout_seconds = local.timeout_seconds
  live_version    = var.live_versions.inquiries
  shared          = var.shared
  environment     = local.environment
  statements      = merge(local.sending, local.reading)

  # A digest has the inquiries that were given up (mail/digests.ts waits for 7 hours).
  stream = {
    arn                           = var.table.stream_arn
    filter                        = jsonencode(local.stream_filters.inquiries)
    parallelization_factor        = var.settings.parallelization_factor
    maximum_record_age_in_seconds = 6 * 60 * 60
    dead_letter_arn               = aws_sqs_queue.dead_letters.arn
  }

  queue = { arn = aws_sqs_queue.ses["inquiries"].arn, maximum_concurrency = 2 }

  callers = { digests = { principal = "events.amazonaws.com", source_arn = aws_cloudwatch_event_rule.digests.arn } }
}

module "replies" {
  source = "../function"

  name            = var.names.replies
  description     = "Inquiry service, stage ${var.stage}: mails answers to their owners."
  package_file    = var.package_file
  handler         = "mailer.handler"
  memory_mb       = 256
  timeout_seconds = local.timeout_seconds
  live_version    = var.live_versions.replies
  shared          = var.shared
  environment     = local.environment
  statements      = merge(local.sending, local.reading)

  stream = {
    arn             = var.table.stream_arn
    filter          = jsonencode(local.stream_filters.replies)
    dead_letter_arn = aws_sqs_queue.dead_letters.arn
  }
}

resource "aws_lambda_function_event_invoke_config" "this" {
  function_name          = module.inquiries.alias.function_name
  qualifier              = module.inquiries.alias.name
  maximum_retry_attempts = 2

  destination_config {
    on_failure { destination = aws_sqs_queue.dead_letters.arn }
  }

  depends_on = [module.inquiries]
}

resource "aws_cloudwatch_event_rule" "digests" {
  name                = "${local.name}-digests"
  description         = "Lets the mailer send what is due of digests."
  schedule_expression = "rate(5 minutes)"
}

resource "aws_cloudwatch_event_target" "digests" {
  rule  = aws_cloudwatch_event_rule.digests.name
  arn   = module.inquiries.alias.arn
  input = jsonencode({ digest = true })
}

output "versions" {
  description = "The functions by the kind of their mails."
  value       = { for kind, each in local.functions : kind => each.version }
}

output "mappings" {
  description = "UUIDs of how Lambda reads the stream, by the kind of mails."
  value       = { for kind, each in local.functions : kind => each.stream_mapping_uuid if contains(keys(local.stream_filters), kind) }
}

output "log_groups" {
  description = "The functions' logs by the kind of their mails."
  value       = { for kind, each in local.functions : kind => each.log_group }
}

output "configuration_set" {
  description = "With which the user pool mails, too."
  value       = aws_sesv2_configuration_set.this.configuration_set_name
}

output "identities" {
  description = "The identity in SES that was created; none with the setting `identity`."
  value       = values(aws_sesv2_email_identity.this)
}

output "mail_buckets" {
  description = "Where SES stores mails, with the setting `replies`."
  value       = [for bucket in aws_s3_bucket.mails : bucket.id]
}

output "dns_records" {
  description = "DNS records by which SES verifies the domain (DKIM), and receives answers."
  value = concat([for kind in local.replies : {
    name  = var.settings.replies.domain
    type  = "MX"
    value = "10 inbound-smtp.${data.aws_region.this.id}.amazonaws.com"
    }], flatten([for domain, identity in aws_sesv2_email_identity.this : [
      for token in identity.dkim_signing_attributes[0].tokens : {
        name  = "${token}._domainkey.${domain}"
        type  = "CNAME"
        value = "${token}.${local.dkim_zone}.amazonses.com"
      }
  ]]))
}
