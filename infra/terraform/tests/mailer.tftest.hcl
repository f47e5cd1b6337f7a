# The module mailer by itself; `npm run check:infra` runs this file in the workspace develop. Ids in messages: see
# every_stage.tftest.hcl.

mock_provider "aws" { source = "./tests/mocks" }

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"
}

override_resource {
  target = aws_sesv2_email_identity.this
  values = { dkim_signing_attributes = { tokens = ["one", "two", "three"] } }
}

variables {
  name          = "inquiries-main"
  names         = { inquiries = "inquiries-main-mailer", replies = "inquiries-main-mailer-replies" }
  stage         = "main"
  company       = { name = "Example Ltd" }
  table         = { name = "inquiries-main", arn = "arn:aws:dynamodb:eu-central-1:111122223333:table/t", stream_arn = "arn:aws:dynamodb:eu-central-1:111122223333:table/t/stream/s" }
  package_file  = "stages.tf"
  live_versions = { inquiries = null, replies = "7" }
  settings = {
    to       = "team@example.org", from = "main@mail.example.com", mails_per_hour = 25, total_mails_per_hour = 100, answer_within = 3
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
    condition = alltrue([
      for kind, mapping in aws_lambda_event_source_mapping.this :
      mapping.function_name == aws_lambda_alias.live[kind].arn
      && aws_lambda_invocation.this[kind].function_name == aws_lambda_alias.live[kind].function_name
      && mapping.event_source_arn == var.table.stream_arn
      && mapping.starting_position == "TRIM_HORIZON"
      && mapping.bisect_batch_on_function_error
      && one(mapping.function_response_types) == "ReportBatchItemFailures"
      && mapping.maximum_retry_attempts == -1
      && mapping.metrics_config[0].metrics == toset(["EventCount"])
      && mapping.destination_config[0].on_failure[0].destination_arn == aws_sqs_queue.dead_letters.arn
    ])
    error_message = "A mapping does not invoke the live version of its function, does not read the stream from its beginning, one bad record holds back or repeats its batch, or what is given up does not go to the dead-letter queue."
  }
  assert {
    condition = { for kind, mapping in aws_lambda_event_source_mapping.this : kind => [mapping.maximum_record_age_in_seconds, mapping.parallelization_factor] } == {
      inquiries = [6 * 60 * 60, 4], replies = [-1, 1]
    }
    error_message = "Inquiries are not tried for 6 hours and replies for as long as the stream has them, or they share a mapping."
  }
  assert {
    condition     = aws_lambda_alias.live["replies"].function_version == "7" && aws_lambda_invocation.this["replies"].qualifier == "7"
    error_message = "A pinned version of a mailer is not tested and live."
  }
  assert {
    condition = alltrue([
      for mailer in aws_lambda_function.this :
      mailer.source_code_hash == filebase64sha256("stages.tf")
      && mailer.role == aws_iam_role.this.arn
      && mailer.tracing_config[0].mode == "Active"
      && mailer.logging_config[0].log_group == aws_cloudwatch_log_group.this.name
      && mailer.logging_config[0].system_log_level == "INFO"
    ]) && aws_cloudwatch_log_group.this.retention_in_days == 30 && aws_iam_role.this.permissions_boundary == var.shared.permissions_boundary
    error_message = "CKV_AWS_50, CKV_AWS_66, CKV_AWS_363, AVD-AWS-0066: a mailer is not the package that was built, has no traces, logs to a group that is kept for ever, or is not bounded."
  }
  assert {
    condition = {
      for statement in jsondecode(aws_iam_role_policy.this.policy).Statement :
      statement.Sid => join(" ", flatten([statement.Effect, statement.Action, statement.Resource, try([jsonencode(statement.Condition)], [])]))
      } == {
      DeadLetters = "Allow sqs:SendMessage ${aws_sqs_queue.dead_letters.arn}"
      Index       = "Allow dynamodb:Query ${var.table.arn}/index/by-state"
      Inquiries   = "Allow dynamodb:GetItem ${var.table.arn}"
      Logs        = "Allow logs:CreateLogStream logs:PutLogEvents ${aws_cloudwatch_log_group.this.arn}:*"
      Mail        = "Allow ses:SendEmail arn:aws:ses:eu-central-1:111122223333:configuration-set/* arn:aws:ses:eu-central-1:111122223333:identity/* {\"StringEquals\":{\"ses:FromAddress\":\"main@mail.example.com\"}}"
      Records     = "Allow dynamodb:PutItem dynamodb:UpdateItem ${var.table.arn} {\"ForAllValues:StringLike\":{\"dynamodb:LeadingKeys\":[\"$inquiries#inquiry_*\",\"$inquiries#quota_*\"]}}"
      Stream      = "Allow dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:ListStreams ${var.table.stream_arn}"
      Traces      = "Allow xray:PutTelemetryRecords xray:PutTraceSegments *"
    }
    error_message = "CKV_AWS_62, CKV_AWS_63, CKV_AWS_286, CKV_AWS_287, CKV_AWS_288, CKV_AWS_289, CKV_AWS_290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345: the mailer has permissions other than to read inquiries, to record deliveries, to send from its own address and to report."
  }
  assert {
    condition     = aws_sqs_queue.dead_letters.message_retention_seconds == 14 * 24 * 60 * 60 && aws_sqs_queue.dead_letters.sqs_managed_sse_enabled
    error_message = "CKV_AWS_27, AVD-AWS-0096: the dead-letter queue does not keep messages for 14 days, or is not encrypted."
  }
  assert {
    condition = { for statement in jsondecode(aws_sqs_queue_policy.dead_letters.policy).Statement : statement.Sid => [statement.Effect, statement.Action, jsonencode(statement.Principal), jsonencode(statement.Condition)] } == {
      OnlyTls = ["Deny", "sqs:*", "\"*\"", "{\"Bool\":{\"aws:SecureTransport\":\"false\"}}"]
      Bounces = ["Allow", "sqs:SendMessage", "{\"Service\":\"sns.amazonaws.com\"}", "{\"ArnEquals\":{\"aws:SourceArn\":\"${aws_sns_topic.bounces.arn}\"}}"]
    }
    error_message = "CKV_AWS_72, CKV_AWS_168, AVD-AWS-0097: the queue's policy does more than refuse requests without TLS and take what the topic of bounces cannot deliver."
  }
  assert {
    condition = (
      { for kind, config in aws_lambda_function_event_invoke_config.this : kind => [
        config.function_name, config.qualifier, config.destination_config[0].on_failure[0].destination
      ] } == { inquiries = ["inquiries-main-mailer", "live", aws_sqs_queue.dead_letters.arn] }
      && jsondecode(aws_sns_topic_subscription.bounces.redrive_policy).deadLetterTargetArn == aws_sqs_queue.dead_letters.arn
    )
    error_message = "A notice of a bounce, or a turn of the timer, is lost if the mailer is broken."
  }
  assert {
    condition = (
      [for attributes in aws_sesv2_email_identity_feedback_attributes.this : [attributes.email_identity, attributes.email_forwarding_enabled]] == [["mail.example.com", false]]
      && output.dns_records == [for token in ["one", "two", "three"] : { name = "${token}._domainkey.mail.example.com", type = "CNAME", value = "${token}.dkim.amazonses.com" }]
    )
    error_message = "There is no identity of the domain that mails are sent from, its DKIM records are not an output, or SES also mails bounces to the sender, which nobody reads."
  }
  assert {
    condition = (
      aws_cloudwatch_event_rule.digests.schedule_expression == "rate(5 minutes)"
      && aws_cloudwatch_event_target.digests.arn == aws_lambda_alias.live["inquiries"].arn
      && aws_cloudwatch_event_target.digests.input == "{\"digest\":true}"
      && aws_lambda_permission.digests.source_arn == aws_cloudwatch_event_rule.digests.arn
    )
    error_message = "The timer does not let the mailer send digests every 5 minutes."
  }
  assert {
    condition = (
      toset(aws_sesv2_configuration_set_event_destination.team.event_destination[0].matching_event_types) == toset(["BOUNCE", "COMPLAINT"])
      && aws_sesv2_configuration_set_event_destination.team.event_destination[0].sns_destination[0].topic_arn == aws_sns_topic_subscription.bounces.topic_arn
      && aws_sns_topic_subscription.bounces.endpoint == aws_lambda_alias.live["inquiries"].arn
      && [aws_lambda_permission.bounces.principal, aws_lambda_permission.bounces.source_arn] == ["sns.amazonaws.com", aws_sns_topic.bounces.arn]
      && toset(aws_sesv2_configuration_set.this.suppression_options[0].suppressed_reasons) == toset(["BOUNCE", "COMPLAINT"])
      && jsondecode(aws_sns_topic_policy.bounces.policy).Statement[0].Principal == { Service = "ses.amazonaws.com" }
      && jsondecode(aws_sns_topic_policy.bounces.policy).Statement[0].Condition.StringEquals["AWS:SourceArn"] == aws_sesv2_configuration_set.this.arn
      && toset(aws_sesv2_configuration_set_event_destination.metrics.event_destination[0].matching_event_types) == toset(["BOUNCE", "COMPLAINT", "SEND"])
    )
    error_message = "Bounces and complaints do not reach the team, or they or the number of mails are not counted."
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
    error_message = "The DKIM records do not point to the zone of the region."
  }
}
