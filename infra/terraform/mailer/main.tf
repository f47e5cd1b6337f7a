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
    replies                = object({ domain = string, from = list(string), follow_ups = bool })
  })
}

variable "company" {
  description = "What mails to owners show, as JSON (mail/config.ts)."
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

variable "owner_settings" {
  description = "The stage's settings for the inquiries of an owner."
  type        = object({ retention_days = number, inquiries_per_hour = number })
}

variable "shared" {
  description = "What all functions have in common."
  type = object({
    runtime              = string
    permissions_boundary = string
    log_retention_days   = number
    versioned            = set(string) # attributes whose change makes a version
    gate                 = string      # the command that tests a version
    assume_role_policy   = string
    traces               = any # statement of a policy; null without tracing
    storing              = any # statements of a policy by Sid
  })
}

locals {
  name = var.names.inquiries
  ses = join(":", [
    "arn", data.aws_partition.this.partition, "ses", data.aws_region.this.id, data.aws_caller_identity.this.account_id,
  ])

  environment = { for name, value in {
    TABLE_NAME           = var.table.name
    INBOX_TO             = var.settings.to
    INBOX_FROM           = var.settings.from
    MAILS_PER_HOUR       = var.settings.mails_per_hour
    TOTAL_MAILS_PER_HOUR = var.settings.total_mails_per_hour
    ANSWER_WITHIN        = var.settings.answer_within
    STAGE                = var.stage
    MAIL_LANGUAGE        = var.settings.language
    TIME_ZONE            = var.settings.time_zone
    ACKNOWLEDGE          = var.settings.acknowledge
    COMPANY              = var.company
    CONFIGURATION_SET    = var.name
    REPLY_DOMAIN         = one(var.settings.replies[*].domain)
    FOLLOW_UPS           = one(var.settings.replies[*].follow_ups)
  } : name => tostring(value) if value != null }

  # Lambda takes one event source mapping of a stream and a function (aws/serverless-application-model#1320).
  # docs/adr/0080
  stream_filters = jsondecode(file("${path.module}/../stream-filters.json"))

  mailer = {
    handler     = "mailer.handler"
    memory      = 256
    role        = aws_iam_role.this.arn
    environment = local.environment
  }

  # By the kind of mails.
  functions = merge(
    {
      inquiries = merge(local.mailer, { does = "mails new inquiries to the team" })
      replies   = merge(local.mailer, { does = "mails answers to their owners" })
    },
    {
      for kind, role in aws_iam_role.receiver : kind => {
        does        = "takes answers by mail"
        handler     = "receiver.handler"
        memory      = 512
        role        = role.arn
        environment = merge(local.environment, local.receiver_environment)
      }
    },
  )

  sending = {
    # Partition keys of src/entities/delivery.ts and reply-keys.ts: the mailer cannot write an inquiry.
    Records = {
      Action   = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
      Resource = var.table.arn
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
      Action = "ses:SendEmail"
      Resource = [
        for type in ["configuration-set", "identity"] :
        "${local.ses}:${type}/*"
      ]
      Condition = { StringEquals = { "ses:FromAddress" = var.settings.from } }
    }
    Logs = {
      Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
      Resource = "${aws_cloudwatch_log_group.this.arn}:*"
    }
    Traces = var.shared.traces
  }

  only_tls = {
    Sid       = "OnlyTls"
    Effect    = "Deny"
    Principal = "*"
    Condition = { Bool = { "aws:SecureTransport" = "false" } }
  }

  live = aws_lambda_alias.live["inquiries"]

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

  # SES makes the keys (Easy DKIM); mail_dns_records publish them.
  dkim_signing_attributes { next_signing_key_length = "RSA_2048_BIT" }
}

# Otherwise SES forwards bounces to `from` (botocore, sesv2: PutEmailIdentityFeedbackAttributes).
resource "aws_sesv2_email_identity_feedback_attributes" "this" {
  for_each = aws_sesv2_email_identity.this

  email_identity           = each.value.email_identity
  email_forwarding_enabled = false
}

# Also for the user pool's mails: alarms count them, and addresses with a bounce or complaint get no more.
resource "aws_sesv2_configuration_set" "this" {
  configuration_set_name = var.name

  suppression_options { suppressed_reasons = ["BOUNCE", "COMPLAINT"] }
}

resource "aws_sesv2_configuration_set_event_destination" "team" {
  configuration_set_name = aws_sesv2_configuration_set.this.configuration_set_name
  event_destination_name = "team"

  event_destination {
    enabled              = true
    matching_event_types = ["BOUNCE", "COMPLAINT"]

    sns_destination { topic_arn = aws_sns_topic.ses["inquiries"].arn }
  }

  # SES asks whether it may publish.
  depends_on = [aws_sns_topic_policy.ses]
}

resource "aws_sesv2_configuration_set_event_destination" "metrics" {
  configuration_set_name = aws_sesv2_configuration_set.this.configuration_set_name
  event_destination_name = "metrics"

  event_destination {
    enabled              = true
    matching_event_types = ["BOUNCE", "COMPLAINT", "SEND"]

    cloud_watch_destination {
      dimension_configuration {
        dimension_name          = "ses:configuration-set"
        dimension_value_source  = "MESSAGE_TAG"
        default_dimension_value = var.name
      }
    }
  }
}

# Records that Lambda gave up, by their place in the stream, and events of SES.
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

resource "aws_cloudwatch_log_group" "this" {
  name              = "/aws/lambda/${local.name}"
  retention_in_days = var.shared.log_retention_days
}

resource "aws_iam_role" "this" {
  name        = local.name
  description = "What the ${local.name} function may do: read the stream and inquiries, send mail and record it."

  assume_role_policy   = var.shared.assume_role_policy
  permissions_boundary = var.shared.permissions_boundary
}

resource "aws_iam_role_policy" "this" {
  name = "mailer"
  role = aws_iam_role.this.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [for sid, statement in merge(local.sending, {
      Stream = {
        Action = [
          "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams",
        ]
        Resource = var.table.stream_arn
      }
      DeadLetters = { Action = "sqs:SendMessage", Resource = aws_sqs_queue.dead_letters.arn }
      Events      = merge(local.take_events, { Resource = aws_sqs_queue.ses["inquiries"].arn })
      # Whether an inquiry exists.
      Inquiries = { Action = "dynamodb:GetItem", Resource = var.table.arn }
      # For inquiries to send again, and digests.
      Index = { Action = "dynamodb:Query", Resource = "${var.table.arn}/index/by-state" }
    }) : merge({ Sid = sid, Effect = "Allow" }, statement) if statement != null]
  })
}

resource "aws_lambda_function" "this" {
  for_each = local.functions

  function_name = var.names[each.key]
  description   = "Inquiry service, stage ${var.stage}: ${each.value.does}."
  role          = each.value.role

  filename         = var.package_file
  source_code_hash = filebase64sha256(var.package_file)
  handler          = each.value.handler
  runtime          = var.shared.runtime
  architectures    = ["arm64"]
  memory_size      = each.value.memory
  timeout          = 60

  environment { variables = each.value.environment }

  logging_config {
    log_format            = "JSON"
    log_group             = aws_cloudwatch_log_group.this.name
    application_log_level = "INFO"
    system_log_level      = "INFO"
  }

  tracing_config { mode = var.shared.traces == null ? "PassThrough" : "Active" }

  lifecycle {
    precondition {
      # docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; base64 has 4 characters for 3 bytes.
      condition     = length(base64encode(jsonencode(each.value.environment))) * 3 / 4 <= 4096
      error_message = "Stage ${var.stage}: form is too long: the mailer's environment has its texts, and at most 4 KB."
    }
  }

  depends_on = [aws_iam_role_policy.receiver, aws_iam_role_policy.this]
}

# As in live.tf.
resource "aws_lambda_alias" "live" {
  for_each = aws_lambda_function.this

  name             = "live"
  function_name    = each.value.function_name
  function_version = "$LATEST"
  description      = "Users get this version."

  lifecycle { ignore_changes = [description, function_version] }
}

resource "terraform_data" "live" {
  for_each = aws_lambda_function.this

  triggers_replace = {
    function  = { for name, value in each.value : name => value if contains(var.shared.versioned, name) }
    pinned    = var.live_versions[each.key]
    withdrawn = aws_lambda_alias.live[each.key].description
  }

  provisioner "local-exec" {
    command = var.shared.gate
    environment = {
      AWS_REGION = data.aws_region.this.id
      FUNCTION   = each.value.function_name
      PACKAGE    = each.value.source_code_hash
      VERSION    = var.live_versions[each.key]
    }
  }

  depends_on = [aws_iam_role_policy.receiver, aws_iam_role_policy.this]
}

# Lambda tries the timer's events three times.
resource "aws_lambda_function_event_invoke_config" "this" {
  function_name          = local.live.function_name
  qualifier              = local.live.name
  maximum_retry_attempts = 2

  destination_config {
    on_failure { destination = aws_sqs_queue.dead_letters.arn }
  }
}

resource "aws_lambda_event_source_mapping" "this" {
  for_each = local.stream_filters

  event_source_arn = var.table.stream_arn
  function_name    = aws_lambda_alias.live[each.key].arn

  # From the oldest record: none is lost before the mapping exists.
  starting_position      = "TRIM_HORIZON"
  batch_size             = 100
  parallelization_factor = each.key == "inquiries" ? var.settings.parallelization_factor : 1

  # A failed record delays those behind it in its shard until it is too old. A digest has the inquiries that were given
  # up (mail/digests.ts waits for 7 hours); replies are tried as long as the stream has them.
  function_response_types        = ["ReportBatchItemFailures"]
  bisect_batch_on_function_error = true
  maximum_retry_attempts         = -1
  maximum_record_age_in_seconds  = each.key == "inquiries" ? 6 * 60 * 60 : -1

  filter_criteria {
    filter { pattern = jsonencode(each.value) }
  }

  # For the alarm mailer-off.
  metrics_config { metrics = ["EventCount"] }

  destination_config {
    on_failure { destination_arn = aws_sqs_queue.dead_letters.arn }
  }

  # Not before a version is live.
  depends_on = [terraform_data.live]
}

# The digests and the daily mail, if due.
resource "aws_cloudwatch_event_rule" "digests" {
  name                = "${local.name}-digests"
  description         = "Lets the mailer send what is due of digests."
  schedule_expression = "rate(5 minutes)"
}

resource "aws_cloudwatch_event_target" "digests" {
  rule  = aws_cloudwatch_event_rule.digests.name
  arn   = local.live.arn
  input = jsonencode({ digest = true })
}

resource "aws_lambda_permission" "digests" {
  statement_id  = "digests"
  action        = "lambda:InvokeFunction"
  function_name = local.live.function_name
  qualifier     = local.live.name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.digests.arn

  depends_on = [terraform_data.live]
}

output "versions" {
  description = "The functions by the kind of their mails."
  value = { for kind, alias in aws_lambda_alias.live : kind => {
    name    = alias.function_name
    package = aws_lambda_function.this[kind].source_code_hash
    pinned  = var.live_versions[kind]
  } }
}

output "mappings" {
  description = "How Lambda reads the stream for them."
  value       = aws_lambda_event_source_mapping.this
}

output "log_group" {
  description = "Their log."
  value       = aws_cloudwatch_log_group.this
}

output "configuration_set" {
  description = "With which the user pool mails, too."
  value       = aws_sesv2_configuration_set.this.configuration_set_name
}

output "identities" {
  description = "The identity in SES that was created; none with the setting `identity`."
  value       = values(aws_sesv2_email_identity.this)
}

output "dead_letter_queue_url" {
  description = "Queue of the mails that were given up."
  value       = aws_sqs_queue.dead_letters.url
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
