# The module mailer by itself; `npm run check:infra` runs this file in the workspace develop. Ids in comments: see
# every_stage.tftest.hcl.

mock_provider "aws" { source = "./tests/mocks" }

variables {
  name          = "inquiries-main"
  names         = { inquiries = "inquiries-main-mailer", replies = "inquiries-main-mailer-replies" }
  stage         = "main"
  company       = { name = "Example Ltd" }
  table         = { name = "inquiries-main", arn = "arn:aws:dynamodb:eu-central-1:111122223333:table/t", stream_arn = "arn:aws:dynamodb:eu-central-1:111122223333:table/t/stream/s" }
  package_file  = "stages.tf"
  live_versions = { inquiries = null, replies = "7" }
  settings = {
    to       = "team@example.org", from = "main@mail.example.com", identity = null, mails_per_hour = 25, total_mails_per_hour = 100, answer_within = 3
    language = "de", time_zone = "UTC", acknowledge = true, parallelization_factor = 4
  }
  shared = {
    runtime              = "nodejs22.x"
    assume_role_policy   = "{}"
    permissions_boundary = "arn:aws:iam::111122223333:policy/boundary"
    log_retention_days   = 30
    tracing              = true
  }
}

run "mailer" {
  module { source = "./mailer" }

  assert {
    condition = { for kind, mapping in aws_lambda_event_source_mapping.this : kind => [
      mapping.function_name == aws_lambda_alias.live[kind].arn, mapping.event_source_arn == var.table.stream_arn, mapping.starting_position, mapping.bisect_batch_on_function_error,
      join(" ", mapping.function_response_types), join(" ", mapping.metrics_config[0].metrics), mapping.destination_config[0].on_failure[0].destination_arn == aws_sqs_queue.dead_letters.arn,
      mapping.maximum_retry_attempts, mapping.maximum_record_age_in_seconds, mapping.parallelization_factor,
      ] } == {
      inquiries = [true, true, "TRIM_HORIZON", true, "ReportBatchItemFailures", "EventCount", true, -1, 21600, 4]
      replies   = [true, true, "TRIM_HORIZON", true, "ReportBatchItemFailures", "EventCount", true, -1, -1, 1]
    }
    error_message = "A mapping skips, repeats or loses records."
  }
  # CKV_AWS_45, CKV_AWS_50, CKV_AWS_66, CKV_AWS_363, AVD-AWS-0066
  assert {
    condition = alltrue([for kind, mailer in aws_lambda_function.this :
      [mailer.source_code_hash, mailer.role, mailer.tracing_config[0].mode, mailer.logging_config[0].log_group, mailer.logging_config[0].system_log_level, aws_lambda_invocation.this[kind].qualifier]
      == [filebase64sha256("stages.tf"), aws_iam_role.this.arn, "Active", aws_cloudwatch_log_group.this.name, "INFO", aws_lambda_alias.live[kind].function_version]
      && mailer.environment[0].variables == tomap({
        TABLE_NAME     = "inquiries-main", STAGE = "main", INBOX_TO = "team@example.org", INBOX_FROM = "main@mail.example.com", CONFIGURATION_SET = "inquiries-main", COMPANY = "{\"name\":\"Example Ltd\"}"
        MAILS_PER_HOUR = "25", TOTAL_MAILS_PER_HOUR = "100", ANSWER_WITHIN = "3", MAIL_LANGUAGE = "de", TIME_ZONE = "UTC", ACKNOWLEDGE = "true"
      })
    ]) && [aws_cloudwatch_log_group.this.retention_in_days, aws_iam_role.this.permissions_boundary, output.versions.replies.live] == [30, var.shared.permissions_boundary, "7"]
    error_message = "A mailer has another package, setting, log or boundary."
  }
  # CKV_AWS_62, CKV_AWS_63, CKV_AWS_286 to 290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345
  assert {
    condition = {
      for statement in jsondecode(aws_iam_role_policy.this.policy).Statement :
      statement.Sid => join(" ", flatten([statement.Action, statement.Resource, try([jsonencode(statement.Condition)], [])]))
      } == {
      DeadLetters = "sqs:SendMessage ${aws_sqs_queue.dead_letters.arn}"
      Index       = "dynamodb:Query ${var.table.arn}/index/by-state"
      Inquiries   = "dynamodb:GetItem ${var.table.arn}"
      Logs        = "logs:CreateLogStream logs:PutLogEvents ${aws_cloudwatch_log_group.this.arn}:*"
      Mail        = "ses:SendEmail arn:aws:ses:eu-central-1:111122223333:configuration-set/* arn:aws:ses:eu-central-1:111122223333:identity/* {\"StringEquals\":{\"ses:FromAddress\":\"main@mail.example.com\"}}"
      Records     = "dynamodb:PutItem dynamodb:UpdateItem ${var.table.arn} {\"ForAllValues:StringLike\":{\"dynamodb:LeadingKeys\":[\"$inquiries#inquiry_*\",\"$inquiries#quota_*\"]}}"
      Stream      = "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:ListStreams ${var.table.stream_arn}"
      Traces      = "xray:PutTelemetryRecords xray:PutTraceSegments *"
    }
    error_message = "The mailer may do more."
  }
  # CKV_AWS_27, CKV_AWS_72, CKV_AWS_168, AVD-AWS-0096, AVD-AWS-0097
  assert {
    condition = [aws_sqs_queue.dead_letters.message_retention_seconds, aws_sqs_queue.dead_letters.sqs_managed_sse_enabled] == [14 * 24 * 60 * 60, true] && {
      for statement in jsondecode(aws_sqs_queue_policy.dead_letters.policy).Statement : statement.Sid => jsonencode([statement.Effect, statement.Action, statement.Principal, statement.Condition])
      } == {
      OnlyTls = jsonencode(["Deny", "sqs:*", "*", { Bool = { "aws:SecureTransport" = "false" } }])
      Bounces = jsonencode(["Allow", "sqs:SendMessage", { Service = "sns.amazonaws.com" }, { ArnEquals = { "aws:SourceArn" = aws_sns_topic.bounces.arn } }])
    }
    error_message = "The queue is open, or does not keep its messages."
  }
  assert {
    condition = (
      [for config in aws_lambda_function_event_invoke_config.this : [config.function_name, config.qualifier, config.destination_config[0].on_failure[0].destination]] == [["inquiries-main-mailer", "live", aws_sqs_queue.dead_letters.arn]]
      && jsondecode(aws_sns_topic_subscription.bounces.redrive_policy).deadLetterTargetArn == aws_sqs_queue.dead_letters.arn
    )
    error_message = "A notice or a turn of the timer is lost."
  }
  assert {
    condition = (
      { for destination in [aws_sesv2_configuration_set_event_destination.team, aws_sesv2_configuration_set_event_destination.metrics] : destination.event_destination_name => join(" ", destination.event_destination[0].matching_event_types) } == { team = "BOUNCE COMPLAINT", metrics = "BOUNCE COMPLAINT SEND" }
      && [aws_sesv2_configuration_set_event_destination.team.event_destination[0].sns_destination[0].topic_arn, aws_sns_topic_subscription.bounces.endpoint] == [aws_sns_topic_subscription.bounces.topic_arn, aws_lambda_alias.live["inquiries"].arn]
      && [for permission in [aws_lambda_permission.bounces, aws_lambda_permission.digests] : [permission.principal, permission.source_arn]] == [["sns.amazonaws.com", aws_sns_topic.bounces.arn], ["events.amazonaws.com", aws_cloudwatch_event_rule.digests.arn]]
      && join(" ", aws_sesv2_configuration_set.this.suppression_options[0].suppressed_reasons) == "BOUNCE COMPLAINT"
      && [for statement in jsondecode(aws_sns_topic_policy.bounces.policy).Statement : [statement.Principal.Service, statement.Condition.StringEquals["AWS:SourceArn"]]] == [["ses.amazonaws.com", aws_sesv2_configuration_set.this.arn]]
      && [aws_cloudwatch_event_rule.digests.schedule_expression, aws_cloudwatch_event_target.digests.arn, aws_cloudwatch_event_target.digests.input] == ["rate(5 minutes)", aws_lambda_alias.live["inquiries"].arn, "{\"digest\":true}"]
    )
    error_message = "Bounces or the timer do not reach the mailer."
  }
  assert {
    condition = (
      [for attributes in aws_sesv2_email_identity_feedback_attributes.this : [attributes.email_identity, attributes.email_forwarding_enabled]] == [["mail.example.com", false]]
      && output.dns_records == [{ name = "one._domainkey.mail.example.com", type = "CNAME", value = "one.dkim.amazonses.com" }]
    )
    error_message = "SES mails bounces to the sender, or DKIM is wrong."
  }
}

run "fails_for_records" {
  state_key = "fails_for_records"
  module { source = "./mailer" }

  override_resource {
    target = aws_lambda_invocation.this
    values = { result = "{\"batchItemFailures\":[{\"itemIdentifier\":\"1\"}]}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "texts_that_lambda_does_not_take" {
  command   = plan
  state_key = "long_texts"
  module { source = "./mailer" }
  variables { company = { expectation = { en = join("", [for _ in range(1000) : "日日"]) } } }
  expect_failures = [aws_lambda_function.this]
}

# SES signs with keys of another zone in some regions.
run "dkim_in_zurich" {
  state_key = "zurich"
  module { source = "./mailer" }

  override_data {
    target = data.aws_region.this
    values = { id = "eu-central-2" }
  }

  assert {
    condition     = output.dns_records[0].value == "one.dkim.eu-central-2.amazonses.com"
    error_message = "DKIM records point to another zone."
  }
}
