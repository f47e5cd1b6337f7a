# Mail of new inquiries and of answers, driven by the table's stream (docs/adr/0080). Only in a stage with the
# setting `inbox`.

locals {
  inbox = local.settings.inbox

  # What the mails to owners show of the form's settings.
  company = merge(
    {
      for key in ["name", "accent", "home", "privacy", "imprint", "expectation"] : key => local.form[key]
      if contains(keys(local.form), key)
    },
    { for origin in local.site_origin[*] : "form" => "${origin}/" },
  )

  mailer_name            = "${local.name}-mailer"
  mailer_timeout_seconds = 60

  # Regions whose DKIM keys are in a zone of their own (docs.aws.amazon.com/general/latest/gr/ses.html, "DKIM
  # domains"). SES names the zone as SigningHostedZone, which the provider does not export.
  own_dkim_zones = [
    "af-south-1", "ap-northeast-3", "ap-south-2", "ap-southeast-3", "ap-southeast-5", "ca-west-1",
    "eu-central-2", "eu-south-1", "il-central-1", "me-central-1", "us-gov-east-1",
  ]

  mailer_environment = local.inbox == null ? {} : merge(
    {
      TABLE_NAME           = aws_dynamodb_table.this.name
      INBOX_TO             = local.inbox.to
      INBOX_FROM           = local.inbox.from
      MAILS_PER_HOUR       = tostring(local.inbox.mails_per_hour)
      TOTAL_MAILS_PER_HOUR = tostring(local.inbox.total_mails_per_hour)
      STAGE                = local.stage
      MAIL_LANGUAGE        = local.inbox.language
      TIME_ZONE            = local.inbox.time_zone
      ACKNOWLEDGE          = tostring(local.inbox.acknowledge)
      COMPANY              = jsonencode(local.company)
      CONFIGURATION_SET    = local.name
    },
    { for days in local.inbox.answer_within[*] : "ANSWER_WITHIN" => tostring(days) },
  )

  # Two functions of one package, since Lambda takes one event source mapping of a stream and a function, whatever
  # the filters (409 ResourceConflictException; aws/serverless-application-model#1320): so a flood of inquiries
  # delays no reply. The local stack reads the same filters.
  stream_filters = jsondecode(file("${path.module}/stream-filters.json"))
  mailer_names   = { for kind in keys(local.stream_filters) : kind => kind == "inquiries" ? local.mailer_name : "${local.mailer_name}-${kind}" }
  mailers = {
    for kind, filter in local.stream_filters : kind => {
      name    = local.mailer_names[kind]
      filter  = filter
      version = coalesce(var.live_mailer_versions[kind], aws_lambda_function.mailer[kind].version)
    } if local.inbox != null
  }
  mailer_package_file = "${path.module}/${var.mailer_package_file}"
}

# SES has a domain once per account and region: one stage creates the identity, the others name it in `identity`.
resource "aws_sesv2_email_identity" "this" {
  for_each = toset([for inbox in local.inbox[*] : split("@", inbox.from)[1] if inbox.identity == null])

  email_identity = each.key

  # SES makes the keys (Easy DKIM); mail_dns_records are the records that publish them.
  dkim_signing_attributes { next_signing_key_length = "RSA_2048_BIT" }
}

# SES would also forward bounces to `from`, which nobody reads, since the event destination below reports them
# (botocore, sesv2: PutEmailIdentityFeedbackAttributes).
resource "aws_sesv2_email_identity_feedback_attributes" "this" {
  for_each = aws_sesv2_email_identity.this

  email_identity           = each.value.email_identity
  email_forwarding_enabled = false
}

# For the mails of the mailer and of the user pool: the mailer tells the team of bounces and complaints, since
# nobody reads `from`, and they are counted for alarms, as are all mails. Addresses that bounced or complained
# get no more mails.
resource "aws_sesv2_configuration_set" "mail" {
  count = local.inbox == null ? 0 : 1

  configuration_set_name = local.name

  suppression_options { suppressed_reasons = ["BOUNCE", "COMPLAINT"] }
}

resource "aws_sesv2_configuration_set_event_destination" "team" {
  count = local.inbox == null ? 0 : 1

  configuration_set_name = aws_sesv2_configuration_set.mail[0].configuration_set_name
  event_destination_name = "team"

  event_destination {
    enabled              = true
    matching_event_types = ["BOUNCE", "COMPLAINT"]

    sns_destination { topic_arn = aws_sns_topic.bounces[0].arn }
  }

  # SES asks whether it may publish.
  depends_on = [aws_sns_topic_policy.bounces]
}

resource "aws_sesv2_configuration_set_event_destination" "metrics" {
  count = local.inbox == null ? 0 : 1

  configuration_set_name = aws_sesv2_configuration_set.mail[0].configuration_set_name
  event_destination_name = "metrics"

  event_destination {
    enabled              = true
    matching_event_types = ["BOUNCE", "COMPLAINT", "SEND"]

    cloud_watch_destination {
      dimension_configuration {
        dimension_name          = "ses:configuration-set"
        dimension_value_source  = "MESSAGE_TAG"
        default_dimension_value = local.name
      }
    }
  }
}

resource "aws_sns_topic" "bounces" {
  count = local.inbox == null ? 0 : 1

  name = "${local.name}-bounces"
}

resource "aws_sns_topic_policy" "bounces" {
  count = local.inbox == null ? 0 : 1

  arn = aws_sns_topic.bounces[0].arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "SesPublishes"
      Effect    = "Allow"
      Principal = { Service = "ses.amazonaws.com" }
      Action    = "sns:Publish"
      Resource  = aws_sns_topic.bounces[0].arn
      Condition = { StringEquals = {
        "AWS:SourceAccount" = local.account_id
        "AWS:SourceArn"     = aws_sesv2_configuration_set.mail[0].arn
      } }
    }]
  })
}

resource "aws_sns_topic_subscription" "bounces" {
  count = local.inbox == null ? 0 : 1

  topic_arn = aws_sns_topic.bounces[0].arn
  protocol  = "lambda"
  endpoint  = aws_lambda_alias.mailer["inquiries"].arn

  # What SNS cannot hand to Lambda; what the mailer fails for is kept by Lambda (below).
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead_letters[0].arn })

  depends_on = [aws_lambda_permission.bounces]
}

resource "aws_lambda_permission" "bounces" {
  count = local.inbox == null ? 0 : 1

  statement_id  = "bounces"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_alias.mailer["inquiries"].function_name
  qualifier     = aws_lambda_alias.mailer["inquiries"].name
  principal     = "sns.amazonaws.com"
  source_arn    = aws_sns_topic.bounces[0].arn
}

# What Lambda reports after its last attempt: where the records are in the stream, not what they contain.
resource "aws_sqs_queue" "dead_letters" {
  count = local.inbox == null ? 0 : 1

  name                      = "${local.mailer_name}-dead-letters"
  message_retention_seconds = 14 * 24 * 60 * 60
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "dead_letters" {
  count = local.inbox == null ? 0 : 1

  queue_url = aws_sqs_queue.dead_letters[0].url

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "OnlyTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = aws_sqs_queue.dead_letters[0].arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
      {
        Sid       = "Bounces"
        Effect    = "Allow"
        Principal = { Service = "sns.amazonaws.com" }
        Action    = "sqs:SendMessage"
        Resource  = aws_sqs_queue.dead_letters[0].arn
        Condition = { ArnEquals = { "aws:SourceArn" = aws_sns_topic.bounces[0].arn } }
      },
    ]
  })
}

resource "aws_cloudwatch_log_group" "mailer" {
  count = local.inbox == null ? 0 : 1

  name              = "/aws/lambda/${local.mailer_name}"
  retention_in_days = local.settings.log_retention_days
}

resource "aws_iam_role" "mailer" {
  count = local.inbox == null ? 0 : 1

  name        = local.mailer_name
  description = "What the ${local.mailer_name} function may do: read the stream and inquiries, send mail, keep records of them."

  assume_role_policy   = local.assume_role_policy
  permissions_boundary = local.permissions_boundary
}

resource "aws_iam_role_policy" "mailer" {
  count = local.inbox == null ? 0 : 1

  name = "mailer"
  role = aws_iam_role.mailer[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [for sid, statement in {
      Stream = {
        Action   = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"]
        Resource = aws_dynamodb_table.this.stream_arn
      }
      # Whether an inquiry still exists.
      Inquiries = { Action = "dynamodb:GetItem", Resource = aws_dynamodb_table.this.arn }
      # Which inquiries to send again, by their ids, and those of the digests.
      Index = { Action = "dynamodb:Query", Resource = "${aws_dynamodb_table.this.arn}/index/by-state" }
      # The partition keys of src/entities/delivery.ts: the mailer cannot write an inquiry.
      Records = {
        Action   = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
        Resource = aws_dynamodb_table.this.arn
        Condition = {
          "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = ["$inquiries#inquiry_*", "$inquiries#quota_*"] }
        }
      }
      # The condition limits the sender. SES also requires the permission on identities of recipients that the
      # account has (in the sandbox, of all recipients) and on the default configuration set of an identity.
      Mail = {
        Action = "ses:SendEmail"
        Resource = [
          for type in ["configuration-set", "identity"] :
          "arn:${local.partition}:ses:${local.region}:${local.account_id}:${type}/*"
        ]
        Condition = { StringEquals = { "ses:FromAddress" = local.inbox.from } }
      }
      DeadLetters = { Action = "sqs:SendMessage", Resource = aws_sqs_queue.dead_letters[0].arn }
      Logs = {
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "${aws_cloudwatch_log_group.mailer[0].arn}:*"
      }
      Traces = local.traces_statement
    } : merge({ Sid = sid, Effect = "Allow" }, statement) if statement != null]
  })
}

resource "aws_lambda_function" "mailer" {
  for_each = toset([for kind in keys(local.stream_filters) : kind if local.inbox != null])

  function_name = local.mailer_names[each.key]
  description   = "Inquiry service, stage ${local.stage}: mails ${each.key == "inquiries" ? "new inquiries to the team" : "answers to their owners"}."
  role          = aws_iam_role.mailer[0].arn

  filename         = local.mailer_package_file
  source_code_hash = filebase64sha256(local.mailer_package_file)
  handler          = "mailer.handler"
  runtime          = "nodejs24.x"
  architectures    = ["arm64"]
  memory_size      = 256
  timeout          = local.mailer_timeout_seconds
  publish          = true

  environment { variables = local.mailer_environment }

  logging_config {
    log_format            = "JSON"
    log_group             = aws_cloudwatch_log_group.mailer[0].name
    application_log_level = "INFO"
    system_log_level      = "INFO"
  }

  tracing_config { mode = local.tracing_mode }

  lifecycle {
    precondition {
      # docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html. Base64 has 4 characters for 3 bytes.
      condition     = length(base64encode(jsonencode(local.mailer_environment))) * 3 / 4 <= 4096
      error_message = "Stage ${local.stage}: form is too long: the mailer's environment, which has its texts, must not exceed 4 KB."
    }
  }

  depends_on = [aws_iam_role_policy.mailer]
}

# Its alias moves to a version that has handled a record of the stream, as that of the function (live.tf). Of a trial
# (src/mailer/handler.ts), the mailer does everything but send.
resource "aws_lambda_invocation" "mailer" {
  for_each = local.mailers

  function_name = each.value.name
  qualifier     = each.value.version
  input = jsonencode({ trial = true, Records = [{
    eventID        = "1"
    eventName      = each.key == "inquiries" ? "INSERT" : "MODIFY"
    eventSource    = "aws:dynamodb"
    eventSourceARN = aws_dynamodb_table.this.stream_arn
    eventVersion   = "1.1"
    awsRegion      = local.region
    dynamodb = {
      ApproximateCreationDateTime = 0
      SequenceNumber              = "1"
      SizeBytes                   = 1
      StreamViewType              = "NEW_AND_OLD_IMAGES"
      NewImage = {
        for column, value in merge(
          {
            __edb_e__   = "inquiry"
            __edb_v__   = "1"
            id          = "019aa0c8-6f77-70a2-a975-366ad3f1860a"
            cognito_sub = uuidv5("dns", "${local.mailer_name}.invalid")
            email       = "smoke-test-${each.value.version}@inquiries.invalid"
            subject     = "Test of version ${each.value.version}"
            body        = "Sent by Terraform."
            created_at  = "2025-11-20T06:11:02.647Z"
          },
          each.key == "inquiries" ? {} : { reply = "Sent by Terraform.", respondent = "terraform", reply_at = "2025-11-20T06:11:02.647Z" },
        ) : column => { S = value }
      }
    }
  }] })

  # Both read the table.
  depends_on = [aws_iam_role_policy.mailer]
}

resource "aws_lambda_alias" "mailer" {
  for_each = local.mailers

  name             = "live"
  function_name    = each.value.name
  function_version = each.value.version

  lifecycle {
    precondition {
      condition     = try(jsondecode(aws_lambda_invocation.mailer[each.key].result).batchItemFailures == [], false)
      error_message = "Version ${each.value.version} of ${each.value.name} is not live: it answered a record with ${aws_lambda_invocation.mailer[each.key].result}"
    }
  }
}

# Lambda queues the events of SNS and of the timer, tries them three times and keeps those that fail.
resource "aws_lambda_function_event_invoke_config" "mailer" {
  for_each = toset([for kind in keys(local.mailers) : kind if kind == "inquiries"])

  function_name          = aws_lambda_alias.mailer[each.key].function_name
  qualifier              = aws_lambda_alias.mailer[each.key].name
  maximum_retry_attempts = 2

  destination_config {
    on_failure { destination = aws_sqs_queue.dead_letters[0].arn }
  }
}

resource "aws_lambda_event_source_mapping" "mailer" {
  for_each = local.mailers

  event_source_arn = aws_dynamodb_table.this.stream_arn
  function_name    = aws_lambda_alias.mailer[each.key].arn

  # From the oldest record: no inquiry is lost between the creation of the stream and that of the mapping.
  starting_position      = "TRIM_HORIZON"
  batch_size             = 100
  parallelization_factor = each.key == "inquiries" ? local.inbox.parallelization_factor : 1

  # A failed record delays those behind it in its shard, until it is too old: the pace of SES is no reason to
  # give it up. Delivery records (docs/adr/0080) keep what was sent in the meantime from being sent twice.
  # What was given up of inquiries is in a digest (src/mailer/digests.ts, which waits for 7 hours); replies
  # are tried for as long as the stream has them.
  function_response_types        = ["ReportBatchItemFailures"]
  bisect_batch_on_function_error = true
  maximum_retry_attempts         = -1
  maximum_record_age_in_seconds  = each.key == "inquiries" ? 6 * 60 * 60 : -1

  filter_criteria {
    filter { pattern = jsonencode(each.value.filter) }
  }

  # For the alarm mailer-off.
  metrics_config { metrics = ["EventCount"] }

  destination_config {
    on_failure { destination_arn = aws_sqs_queue.dead_letters[0].arn }
  }
}

# The digests, and the daily mail: the mailer itself finds out whether one is due.
resource "aws_cloudwatch_event_rule" "digests" {
  count = local.inbox == null ? 0 : 1

  name                = "${local.mailer_name}-digests"
  description         = "Lets the mailer send what is due of digests."
  schedule_expression = "rate(5 minutes)"
}

resource "aws_cloudwatch_event_target" "digests" {
  count = local.inbox == null ? 0 : 1

  rule  = aws_cloudwatch_event_rule.digests[0].name
  arn   = aws_lambda_alias.mailer["inquiries"].arn
  input = jsonencode({ digest = true })
}

resource "aws_lambda_permission" "digests" {
  count = local.inbox == null ? 0 : 1

  statement_id  = "digests"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_alias.mailer["inquiries"].function_name
  qualifier     = aws_lambda_alias.mailer["inquiries"].name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.digests[0].arn
}
