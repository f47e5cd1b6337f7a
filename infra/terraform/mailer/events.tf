# SES's events: bounces and complaints for the mailer, received mails for the receiver. Lambda repeats what fails from
# the queue for a day. docs/adr/0080

locals {
  ses_events = merge(
    { inquiries = values(local.configuration_sets)[*].arn },
    { for kind in local.replies : kind => [local.receipt_rule_arn] },
  )

  configuration_sets = { owners = aws_sesv2_configuration_set.this, team = aws_sesv2_configuration_set.team }
}

resource "aws_sns_topic" "ses" {
  for_each = local.ses_events

  name = "${var.names[each.key]}-events"
}

resource "aws_sns_topic_policy" "ses" {
  for_each = local.ses_events

  arn = aws_sns_topic.ses[each.key].arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "SesPublishes"
      Effect    = "Allow"
      Principal = { Service = "ses.amazonaws.com" }
      Action    = "sns:Publish"
      Resource  = aws_sns_topic.ses[each.key].arn
      Condition = { StringEquals = {
        "AWS:SourceAccount" = data.aws_caller_identity.this.account_id
        "AWS:SourceArn"     = each.value
      } }
    }]
  })
}

resource "aws_sqs_queue" "ses" {
  for_each = local.ses_events

  name = "${var.names[each.key]}-events"
  # Six times the function's timeout (docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html).
  visibility_timeout_seconds = 6 * local.timeout_seconds
  message_retention_seconds  = 14 * 24 * 60 * 60
  sqs_managed_sse_enabled    = true

  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead_letters.arn, maxReceiveCount = 240 })
}

resource "aws_sqs_queue_policy" "ses" {
  for_each = local.ses_events

  queue_url = aws_sqs_queue.ses[each.key].url

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      merge(local.only_tls, { Action = "sqs:*", Resource = aws_sqs_queue.ses[each.key].arn }),
      {
        Sid       = "SnsSends"
        Effect    = "Allow"
        Principal = { Service = "sns.amazonaws.com" }
        Action    = "sqs:SendMessage"
        Resource  = aws_sqs_queue.ses[each.key].arn
        Condition = { ArnEquals = { "aws:SourceArn" = aws_sns_topic.ses[each.key].arn } }
      },
    ]
  })
}

resource "aws_sns_topic_subscription" "ses" {
  for_each = local.ses_events

  topic_arn            = aws_sns_topic.ses[each.key].arn
  protocol             = "sqs"
  endpoint             = aws_sqs_queue.ses[each.key].arn
  raw_message_delivery = true

  depends_on = [aws_sqs_queue_policy.ses]
}
