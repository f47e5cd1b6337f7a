# The setting inbox, in every stage, and the policies of operators. Ids in messages: see every_stage.tftest.hcl.

mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"
}

# Otherwise it stops the test from removing a protected stage, which consists of mocks.
override_resource {
  target = terraform_data.guard
  values = { output = { is_protected = false, message = "" } }
}

override_resource {
  target = aws_dynamodb_table.erasures
  values = { arn = "arn:aws:dynamodb:eu-central-1:111122223333:table/erasures" }
}

override_resource {
  target = aws_lambda_function.mailer
  values = { arn = "arn:aws:lambda:eu-central-1:111122223333:function:mailer" }
}

override_resource {
  target = aws_iam_role.mailer
  values = { arn = "arn:aws:iam::111122223333:role/mailer" }
}

override_resource {
  target = aws_cloudwatch_log_group.mailer
  values = { arn = "arn:aws:logs:eu-central-1:111122223333:log-group:mailer" }
}

override_resource {
  target = aws_sqs_queue.dead_letters
  values = {
    arn = "arn:aws:sqs:eu-central-1:111122223333:dead-letters"
    url = "https://sqs.eu-central-1.amazonaws.com/111122223333/dead-letters"
  }
}

override_resource {
  target = aws_sesv2_email_identity.this
  values = { dkim_signing_attributes = { tokens = ["one", "two", "three"] } }
}

variables {
  runtime             = "nodejs22.x"
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  stages = {
    for stage in ["develop", "main", "release"] : stage => {
      issuer      = "https://issuer.example.com/${stage}"
      audience    = ["client"]
      cors_origin = "https://${stage}.example.com"
      inbox       = { to = "team@example.org", from = "${stage}@mail.example.com", mails_per_hour = 25, language = "de" }
    }
  }
}

run "inbox" {
  assert {
    condition     = aws_dynamodb_table.this.stream_enabled && aws_dynamodb_table.this.stream_view_type == "NEW_AND_OLD_IMAGES"
    error_message = "The stream does not have both images, which the filters and the mailer read."
  }
  assert {
    condition = {
      for mapping in aws_lambda_event_source_mapping.mailer : mapping.function_name => {
        source   = mapping.event_source_arn
        position = mapping.starting_position
        batch    = [mapping.batch_size, mapping.parallelization_factor]
        bisect   = mapping.bisect_batch_on_function_error
        response = one(mapping.function_response_types)
        retries  = [mapping.maximum_retry_attempts, mapping.maximum_record_age_in_seconds]
        rest     = mapping.destination_config[0].on_failure[0].destination_arn
      }
      } == {
      (aws_lambda_function.mailer[0].arn) = {
        source   = aws_dynamodb_table.this.stream_arn
        position = "TRIM_HORIZON"
        batch    = [10, 1]
        bisect   = true
        response = "ReportBatchItemFailures"
        retries  = [10, 21600]
        rest     = aws_sqs_queue.dead_letters[0].arn
      }
    }
    error_message = "The mailer does not read the stream from its beginning, one bad record holds back or repeats its batch, retries are not bounded by 10 attempts and 6 hours, or what is given up does not go to the dead-letter queue."
  }
  assert {
    condition = toset(aws_lambda_event_source_mapping.mailer[0].filter_criteria[0].filter[*].pattern) == toset([
      jsonencode({ eventName = ["INSERT"], dynamodb = { NewImage = { __edb_e__ = { S = ["inquiry"] } } } }),
      jsonencode({
        eventName = ["MODIFY"]
        dynamodb = {
          NewImage = { __edb_e__ = { S = ["inquiry"] }, reply = { S = [{ exists = true }] } }
          OldImage = { reply = { S = [{ exists = false }] } }
        }
      }),
    ])
    error_message = "The mailer is invoked for other records than new inquiries and rows whose reply was just set."
  }
  assert {
    condition = {
      name     = aws_lambda_function.mailer[0].function_name
      memory   = aws_lambda_function.mailer[0].memory_size
      timeout  = aws_lambda_function.mailer[0].timeout
      handler  = aws_lambda_function.mailer[0].handler
      platform = one(aws_lambda_function.mailer[0].architectures)
      runtime  = aws_lambda_function.mailer[0].runtime
      hash     = aws_lambda_function.mailer[0].source_code_hash
      tracing  = aws_lambda_function.mailer[0].tracing_config[0].mode
      settings = aws_lambda_function.mailer[0].environment[0].variables
      log      = [for log in aws_lambda_function.mailer[0].logging_config : [log.log_format, log.log_group, log.application_log_level, log.system_log_level]]
      kept     = aws_cloudwatch_log_group.mailer[0].retention_in_days
      } == {
      name     = "inquiries-${terraform.workspace}-mailer"
      memory   = 256
      timeout  = 60
      handler  = "mailer.handler"
      platform = "arm64"
      runtime  = var.runtime
      hash     = filebase64sha256("stages.tf")
      tracing  = "Active"
      settings = tomap({
        TABLE_NAME     = "inquiries-${terraform.workspace}"
        INBOX_TO       = "team@example.org"
        INBOX_FROM     = "${terraform.workspace}@mail.example.com"
        MAILS_PER_HOUR = "25"
        STAGE          = terraform.workspace
        MAIL_LANGUAGE  = "de"
      })
      log  = [["JSON", "/aws/lambda/inquiries-${terraform.workspace}-mailer", "INFO", "INFO"]]
      kept = 30
    }
    error_message = "CKV_AWS_45, CKV_AWS_50, CKV_AWS_66, CKV_AWS_363, AVD-AWS-0066: the mailer is not the built package on arm64 with its name, 256 MB, 60 s, traces, JSON logs that are kept for 30 days, and its settings only."
  }
  assert {
    condition     = !contains(keys(aws_lambda_function.this.environment[0].variables), "INBOX_TO")
    error_message = "The function knows of mail."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_role.mailer[0].assume_role_policy).Statement) == jsonencode([
      { Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } },
    ])
    error_message = "CKV_AWS_60, CKV_AWS_61: the mailer's role can be assumed by others than Lambda."
  }
  assert {
    condition     = aws_lambda_function.mailer[0].role == aws_iam_role.mailer[0].arn && aws_lambda_function.this.role == aws_iam_role.function.arn
    error_message = "The functions do not have a role each."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_role_policy.mailer[0].policy).Statement) == jsonencode([
      {
        Sid      = "Stream", Effect = "Allow"
        Action   = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"]
        Resource = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/stream/2026-01-01T00:00:00.000"
      },
      {
        Sid      = "Inquiries", Effect = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:Query"]
        Resource = ["arn:aws:dynamodb:eu-central-1:111122223333:table/mock", "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/index/by-time"]
      },
      {
        Sid       = "Records", Effect = "Allow"
        Action    = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
        Resource  = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock"
        Condition = { "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = ["$inquiries#inquiry_*", "$inquiries#owner_hour_*"] } }
      },
      {
        Sid       = "Mail", Effect = "Allow"
        Action    = "ses:SendEmail"
        Resource  = ["arn:aws:ses:eu-central-1:111122223333:configuration-set/*", "arn:aws:ses:eu-central-1:111122223333:identity/*"]
        Condition = { StringEquals = { "ses:FromAddress" = "${terraform.workspace}@mail.example.com" } }
      },
      { Sid = "DeadLetters", Effect = "Allow", Action = "sqs:SendMessage", Resource = "arn:aws:sqs:eu-central-1:111122223333:dead-letters" },
      { Sid = "Logs", Effect = "Allow", Action = ["logs:CreateLogStream", "logs:PutLogEvents"], Resource = "arn:aws:logs:eu-central-1:111122223333:log-group:mailer:*" },
      { Sid = "Traces", Effect = "Allow", Action = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"], Resource = "*" },
    ])
    error_message = "CKV_AWS_62, CKV_AWS_63, CKV_AWS_286, CKV_AWS_287, CKV_AWS_288, CKV_AWS_289, CKV_AWS_290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345: the mailer has permissions other than to read inquiries, to record deliveries, to send from its own address and to report."
  }
  assert {
    condition     = length(jsondecode(aws_iam_role_policy.function.policy).Statement) == 3
    error_message = "The function's role has more permissions with mail than without."
  }
  assert {
    condition = {
      for queue in aws_sqs_queue.dead_letters : queue.name => [queue.message_retention_seconds, queue.sqs_managed_sse_enabled]
      } == {
      "inquiries-${terraform.workspace}-mailer-dead-letters" = [1209600, true]
    }
    error_message = "CKV_AWS_27, AVD-AWS-0096: the dead-letter queue does not keep messages for 14 days, or is not encrypted."
  }
  assert {
    condition = (
      aws_sqs_queue_policy.dead_letters[0].queue_url == aws_sqs_queue.dead_letters[0].url
      && jsonencode(jsondecode(aws_sqs_queue_policy.dead_letters[0].policy).Statement) == jsonencode([{
        Sid       = "OnlyTls", Effect = "Deny", Principal = "*", Action = "sqs:*"
        Resource  = "arn:aws:sqs:eu-central-1:111122223333:dead-letters"
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }])
    )
    error_message = "CKV_AWS_72, CKV_AWS_168, AVD-AWS-0097: the queue's policy does more than refuse requests without TLS."
  }
  assert {
    condition = (
      keys(aws_sesv2_email_identity.this) == ["mail.example.com"]
      && aws_sesv2_email_identity.this["mail.example.com"].email_identity == "mail.example.com"
      && aws_sesv2_email_identity.this["mail.example.com"].dkim_signing_attributes[0].next_signing_key_length == "RSA_2048_BIT"
    )
    error_message = "The stage does not create an identity of the domain it sends from, with 2048-bit DKIM keys."
  }
  assert {
    condition = output.mail_dns_records == [
      for token in ["one", "two", "three"] : { name = "${token}._domainkey.mail.example.com", type = "CNAME", value = "${token}.dkim.amazonses.com" }
    ]
    error_message = "The DKIM records of the identity are not an output."
  }
  assert {
    condition = (
      output.mailer_function_name == "inquiries-${terraform.workspace}-mailer"
      && output.dead_letter_queue_url == "https://sqs.eu-central-1.amazonaws.com/111122223333/dead-letters"
      && output.erasures_table_name == "inquiries-${terraform.workspace}-erasures"
    )
    error_message = "An output has another value."
  }
  assert {
    condition = (
      aws_iam_policy.inbox.name == "inquiries-${terraform.workspace}-inbox"
      && aws_iam_policy.inbox_answer.name == "inquiries-${terraform.workspace}-inbox-answer"
      && output.inbox_policy_arns == { all = aws_iam_policy.inbox.arn, answer = aws_iam_policy.inbox_answer.arn }
    )
    error_message = "The policies of operators are not named after the stage, or are not an output."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_policy.inbox_answer.policy).Statement) == jsonencode([
      {
        Sid      = "Read", Effect = "Allow"
        Action   = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
        Resource = ["arn:aws:dynamodb:eu-central-1:111122223333:table/mock", "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/index/by-time"]
      },
      {
        Sid      = "Answer", Effect = "Allow"
        Action   = "dynamodb:UpdateItem"
        Resource = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock"
        Condition = {
          "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk", "reply", "respondent", "reply_at"] }
          "ForAllValues:StringLike"   = { "dynamodb:LeadingKeys" = "$inquiries#cognito_sub_*" }
        }
      },
    ])
    error_message = "CKV_AWS_286, CKV_AWS_288, CKV_AWS_289, CKV_AWS_290, CKV_AWS_355: who only answers may do more than read inquiries and set the three columns."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_policy.inbox.policy).Statement) == jsonencode(concat(jsondecode(aws_iam_policy.inbox_answer.policy).Statement, [
      {
        Sid       = "Erase", Effect = "Allow"
        Action    = "dynamodb:BatchWriteItem"
        Resource  = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock"
        Condition = { "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk"] } }
      },
      {
        Sid      = "Erasures", Effect = "Allow"
        Action   = ["dynamodb:PutItem", "dynamodb:Scan"]
        Resource = "arn:aws:dynamodb:eu-central-1:111122223333:table/erasures"
      },
      {
        Sid      = "ReadErasureKey", Effect = "Allow", Action = "ssm:GetParameter"
        Resource = "arn:aws:ssm:eu-central-1:111122223333:parameter/inquiries-${terraform.workspace}/erasure-key"
      },
      {
        Sid       = "CreateErasureKey", Effect = "Allow", Action = "ssm:PutParameter"
        Resource  = "arn:aws:ssm:eu-central-1:111122223333:parameter/inquiries-${terraform.workspace}/erasure-key"
        Condition = { StringNotEquals = { "ssm:Overwrite" = "true" } }
      },
      { Sid = "SendAgain", Effect = "Allow", Action = "lambda:InvokeFunction", Resource = "arn:aws:lambda:eu-central-1:111122223333:function:mailer" },
    ]))
    error_message = "CKV_AWS_286, CKV_AWS_287, CKV_AWS_288, CKV_AWS_289, CKV_AWS_290, CKV_AWS_355: operators may do something else than the verbs of npm run inbox and sending mails again."
  }
}

run "every_setting_of_the_functions" {
  variables {
    stages = {
      for stage in ["develop", "main", "release"] : stage => {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
        inbox       = { to = "team@example.org", from = "team@mail.example.com", identity = "example.com" }

        log_retention_days   = 365
        pitr_days            = 7
        retention_days       = 365
        inquiries_per_hour   = 60
        reserved_concurrency = 0
        table_kms_key_arn    = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"
      }
    }
  }

  assert {
    condition     = length(aws_sesv2_email_identity.this) == 0 && length(output.mail_dns_records) == 0
    error_message = "An identity that exists would be created again."
  }
  assert {
    condition = (
      aws_lambda_function.mailer[0].environment[0].variables.MAILS_PER_HOUR == "10"
      && aws_lambda_function.mailer[0].environment[0].variables.MAIL_LANGUAGE == "en"
    )
    error_message = "The defaults are not 10 mails an hour, in English."
  }
  assert {
    condition = alltrue([
      for table in [aws_dynamodb_table.this, aws_dynamodb_table.erasures] :
      table.point_in_time_recovery[0].recovery_period_in_days == 7
      && table.server_side_encryption[0].enabled
      && table.server_side_encryption[0].kms_key_arn == "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"
    ])
    error_message = "pitr_days does not limit how far back the tables can be restored, or a table does not use the customer's key."
  }
  assert {
    condition = aws_lambda_function.this.environment[0].variables == tomap({
      TABLE_NAME         = "inquiries-${terraform.workspace}"
      CORS_ORIGIN        = "https://www.example.com"
      RETENTION_DAYS     = "365"
      INQUIRIES_PER_HOUR = "60"
    })
    error_message = "The function does not get retention_days or inquiries_per_hour."
  }
  assert {
    condition     = aws_lambda_function.this.reserved_concurrent_executions == 0
    error_message = "The function cannot be stopped with a reserved concurrency of 0."
  }
  assert {
    condition     = aws_cloudwatch_log_group.function.retention_in_days == 365 && aws_cloudwatch_log_group.access.retention_in_days == 365
    error_message = "Logs cannot be kept for a year."
  }
}
