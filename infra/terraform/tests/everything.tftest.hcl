# A stage with mail, alarms and a form: the mailer, the policies of operators, alarms, metric filters and the dashboard. Ids in
# messages: see every_stage.tftest.hcl.

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

override_resource {
  target = aws_cloudfront_distribution.site
  values = { domain_name = "form.cloudfront.net" }
}

override_resource {
  target = aws_route53_health_check.form
  values = { id = "mockcheck" }
}

override_resource {
  target = aws_sns_topic.form
  values = { arn = "arn:aws:sns:us-east-1:111122223333:mock" }
}

override_resource {
  target = aws_cloudwatch_metric_alarm.form
  values = { arn = "arn:aws:cloudwatch:us-east-1:111122223333:alarm:form" }
}

variables {
  runtime             = "nodejs22.x"
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  stages = {
    for stage in ["develop", "main", "release"] : stage => {
      alarm_email = "${stage}@example.com"
      inbox       = { to = "team@example.org", from = "${stage}@mail.example.com", mails_per_hour = 25, language = "de" }
    }
  }
}

run "mail_alarms_and_form" {
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
      { Sid = "DeadLetters", Effect = "Allow", Action = "sqs:SendMessage", Resource = "arn:aws:sqs:eu-central-1:111122223333:dead-letters" },
      {
        Sid      = "Inquiries", Effect = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:Query"]
        Resource = ["arn:aws:dynamodb:eu-central-1:111122223333:table/mock", "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/index/by-time"]
      },
      { Sid = "Logs", Effect = "Allow", Action = ["logs:CreateLogStream", "logs:PutLogEvents"], Resource = "arn:aws:logs:eu-central-1:111122223333:log-group:mailer:*" },
      {
        Sid       = "Mail", Effect = "Allow"
        Action    = "ses:SendEmail"
        Resource  = ["arn:aws:ses:eu-central-1:111122223333:configuration-set/*", "arn:aws:ses:eu-central-1:111122223333:identity/*"]
        Condition = { StringEquals = { "ses:FromAddress" = "${terraform.workspace}@mail.example.com" } }
      },
      {
        Sid       = "Records", Effect = "Allow"
        Action    = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
        Resource  = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock"
        Condition = { "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = ["$inquiries#inquiry_*", "$inquiries#owner_hour_*"] } }
      },
      {
        Sid      = "Stream", Effect = "Allow"
        Action   = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"]
        Resource = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/stream/2026-01-01T00:00:00.000"
      },
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
      aws_iam_policy.inbox.name == "inquiries-${terraform.workspace}-inbox"
      && aws_iam_policy.inbox_answer.name == "inquiries-${terraform.workspace}-inbox-answer"
      && output.dead_letter_queue_url == "https://sqs.eu-central-1.amazonaws.com/111122223333/dead-letters"
      && output.inbox_policy_arns == { all = aws_iam_policy.inbox.arn, answer = aws_iam_policy.inbox_answer.arn }
    )
    error_message = "The policies of operators are not named after the stage, or they or the queue are not an output."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_policy.inbox_answer.policy).Statement) == jsonencode([
      {
        Sid      = "Answer", Effect = "Allow"
        Action   = "dynamodb:UpdateItem"
        Resource = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock"
        Condition = {
          "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk", "reply", "respondent", "reply_at"] }
          "ForAllValues:StringLike"   = { "dynamodb:LeadingKeys" = "$inquiries#cognito_sub_*" }
        }
      },
      {
        Sid      = "Read", Effect = "Allow"
        Action   = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
        Resource = ["arn:aws:dynamodb:eu-central-1:111122223333:table/mock", "arn:aws:dynamodb:eu-central-1:111122223333:table/mock/index/by-time"]
      },
    ])
    error_message = "CKV_AWS_286, CKV_AWS_288, CKV_AWS_289, CKV_AWS_290, CKV_AWS_355: who only answers may do more than read inquiries and set the three columns."
  }
  assert {
    condition = jsonencode(jsondecode(aws_iam_policy.inbox.policy).Statement) == jsonencode(concat(jsondecode(aws_iam_policy.inbox_answer.policy).Statement, [
      {
        Sid       = "CreateErasureKey", Effect = "Allow", Action = "ssm:PutParameter"
        Resource  = "arn:aws:ssm:eu-central-1:111122223333:parameter/inquiries-${terraform.workspace}/erasure-key"
        Condition = { StringNotEquals = { "ssm:Overwrite" = "true" } }
      },
      {
        Sid       = "Erase", Effect = "Allow"
        Action    = "dynamodb:BatchWriteItem"
        Resource  = "arn:aws:dynamodb:eu-central-1:111122223333:table/mock"
        Condition = { "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk"] } }
      },
      {
        Sid      = "Erasures", Effect = "Allow"
        Action   = ["dynamodb:DescribeTable", "dynamodb:ListTagsOfResource", "dynamodb:PutItem", "dynamodb:Scan"]
        Resource = "arn:aws:dynamodb:eu-central-1:111122223333:table/erasures"
      },
      {
        Sid      = "ReadErasureKey", Effect = "Allow", Action = "ssm:GetParameter"
        Resource = "arn:aws:ssm:eu-central-1:111122223333:parameter/inquiries-${terraform.workspace}/erasure-key"
      },
      {
        Sid      = "DeleteAccount", Effect = "Allow", Action = ["cognito-idp:AdminDeleteUser", "cognito-idp:ListUsers"]
        Resource = "arn:aws:cognito-idp:eu-central-1:111122223333:userpool/eu-central-1_Mock"
      },
      { Sid = "SendAgain", Effect = "Allow", Action = "lambda:InvokeFunction", Resource = "arn:aws:lambda:eu-central-1:111122223333:function:mailer" },
    ]))
    error_message = "CKV_AWS_286, CKV_AWS_287, CKV_AWS_288, CKV_AWS_289, CKV_AWS_290, CKV_AWS_355: operators may do something else than the verbs of npm run inbox and sending mails again."
  }
  # A new alarm needs a row in this table and in the next one.
  assert {
    condition = {
      for alarm in concat(values(aws_cloudwatch_metric_alarm.this), aws_cloudwatch_metric_alarm.form) :
      trimprefix(alarm.alarm_name, "inquiries-${terraform.workspace}-") => join(" ", [
        alarm.comparison_operator, alarm.threshold,
        "in ${alarm.datapoints_to_alarm} of ${alarm.evaluation_periods} periods of",
        join(" and ", distinct(concat(alarm.period[*], [for query in alarm.metric_query : query.metric[0].period if !query.return_data]))),
        "s, missing data is ${alarm.treat_missing_data}",
      ])
      } == {
      api-5xx-rate        = "GreaterThanThreshold 1 in 2 of 3 periods of 300 s, missing data is notBreaching"
      form-unreachable    = "LessThanThreshold 1 in 2 of 3 periods of 60 s, missing data is breaching"
      function-duration   = "GreaterThanThreshold 24000 in 1 of 1 periods of 300 s, missing data is notBreaching"
      function-errors     = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      function-faults     = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      function-memory     = "GreaterThanThreshold 115.2 in 1 of 1 periods of 300 s, missing data is notBreaching"
      function-throttles  = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      index-throttles     = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      issuer-outage       = "GreaterThanThreshold 95 in 2 of 3 periods of 300 s, missing data is notBreaching"
      mailer-dead-letters = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      mailer-delay        = "GreaterThanThreshold 900000 in 1 of 1 periods of 300 s, missing data is notBreaching"
      mailer-errors       = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      mailer-failures     = "GreaterThanThreshold 0 in 2 of 3 periods of 300 s, missing data is notBreaching"
      mailer-refused      = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      table-system-errors = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
      table-throttles     = "GreaterThanThreshold 0 in 1 of 1 periods of 300 s, missing data is notBreaching"
    }
    error_message = "An alarm fires at another figure, after another time or without data, or is not in this table."
  }
  assert {
    condition = {
      for alarm in concat(values(aws_cloudwatch_metric_alarm.this), aws_cloudwatch_metric_alarm.form) :
      trimprefix(alarm.alarm_name, "inquiries-${terraform.workspace}-") => join("; ", sort(concat(
        [for name in alarm.metric_name[*] : join(" ", concat([alarm.statistic, alarm.namespace, name], try(values(alarm.dimensions), [])))],
        [for query in alarm.metric_query : query.return_data ? "= ${query.expression}" : join(" ", concat(
          ["${query.id}:", query.metric[0].stat, query.metric[0].namespace, query.metric[0].metric_name], try(values(query.metric[0].dimensions), [])
        ))],
      )))
      } == {
      api-5xx-rate        = "= IF(requests > 0, 100 * (failures - not_json) / requests, 0); failures: Sum AWS/ApiGateway 5xx mockapi; not_json: Sum inquiries/${terraform.workspace} NotJson; requests: Sum AWS/ApiGateway Count mockapi"
      form-unreachable    = "Minimum AWS/Route53 HealthCheckStatus mockcheck"
      function-duration   = "Maximum AWS/Lambda Duration inquiries-${terraform.workspace}"
      function-errors     = "Sum AWS/Lambda Errors inquiries-${terraform.workspace}"
      function-faults     = "Sum Inquiries Faults inquiries-${terraform.workspace}"
      function-memory     = "Maximum inquiries/${terraform.workspace} MaxMemoryUsed"
      function-throttles  = "Sum AWS/Lambda Throttles inquiries-${terraform.workspace}"
      index-throttles     = "= reads + writes + 0 * requests; reads: Sum AWS/DynamoDB ReadThrottleEvents by-time inquiries-${terraform.workspace}; requests: Sum AWS/ApiGateway Count mockapi; writes: Sum AWS/DynamoDB WriteThrottleEvents by-time inquiries-${terraform.workspace}"
      issuer-outage       = "= IF(refused >= 10, 100 * refused / (refused + admitted), 0); admitted: Sum inquiries/${terraform.workspace} Admitted; refused: Sum inquiries/${terraform.workspace} Refused"
      mailer-dead-letters = "Maximum AWS/SQS ApproximateNumberOfMessagesVisible inquiries-${terraform.workspace}-mailer-dead-letters"
      mailer-delay        = "Maximum AWS/Lambda IteratorAge inquiries-${terraform.workspace}-mailer"
      mailer-errors       = "= errors + lost; errors: Sum AWS/Lambda Errors inquiries-${terraform.workspace}-mailer; lost: Sum AWS/Lambda DestinationDeliveryFailures inquiries-${terraform.workspace}-mailer"
      mailer-failures     = "Sum Inquiries MailFailures inquiries-${terraform.workspace}-mailer"
      mailer-refused      = "Sum inquiries/${terraform.workspace} MailsRefused"
      table-system-errors = "= puts + transactions + queries + 0 * requests; puts: Sum AWS/DynamoDB SystemErrors PutItem inquiries-${terraform.workspace}; queries: Sum AWS/DynamoDB SystemErrors Query inquiries-${terraform.workspace}; requests: Sum AWS/ApiGateway Count mockapi; transactions: Sum AWS/DynamoDB SystemErrors TransactWriteItems inquiries-${terraform.workspace}"
      table-throttles     = "= reads + writes + 0 * requests; reads: Sum AWS/DynamoDB ReadThrottleEvents inquiries-${terraform.workspace}; requests: Sum AWS/ApiGateway Count mockapi; writes: Sum AWS/DynamoDB WriteThrottleEvents inquiries-${terraform.workspace}"
    }
    error_message = "An alarm watches another figure, or is not in this table."
  }
  assert {
    condition = alltrue([
      for alarm in concat(values(aws_cloudwatch_metric_alarm.this), aws_cloudwatch_metric_alarm.form) : strcontains(alarm.alarm_description, "Look at ")
    ])
    error_message = "An alarm's description does not say what to look at."
  }
  assert {
    condition = (
      alltrue([
        for alarm in aws_cloudwatch_metric_alarm.this :
        alarm.actions_enabled && alarm.alarm_actions == toset(["arn:aws:sns:eu-central-1:111122223333:mock"]) && alarm.ok_actions == alarm.alarm_actions
      ])
      && aws_cloudwatch_metric_alarm.form[0].actions_enabled
      && aws_cloudwatch_metric_alarm.form[0].alarm_actions == toset(["arn:aws:sns:us-east-1:111122223333:mock"])
      && aws_cloudwatch_metric_alarm.form[0].ok_actions == aws_cloudwatch_metric_alarm.form[0].alarm_actions
    )
    error_message = "CKV_AWS_319: an alarm is disabled, or it or its end is not sent to the topic of its region."
  }
  assert {
    condition = alltrue([
      for subscription in concat(values(aws_sns_topic_subscription.alarms), values(aws_sns_topic_subscription.form)) :
      subscription.protocol == "email" && subscription.endpoint == "${terraform.workspace}@example.com"
    ]) && length(aws_sns_topic_subscription.alarms) == 1 && length(aws_sns_topic_subscription.form) == 1
    error_message = "Alarms do not reach the stage's address."
  }
  assert {
    condition = alltrue([
      for topic in concat(values(aws_sns_topic.alarms), values(aws_sns_topic.form)) : topic.kms_master_key_id != "alias/aws/sns"
    ]) && one(values(aws_sns_topic.alarms)).name != one(values(aws_sns_topic.form)).name
    error_message = "CloudWatch may not use the key alias/aws/sns, or the topics of a stage in us-east-1 are one."
  }
  assert {
    condition = {
      for filter in aws_cloudwatch_log_metric_filter.this : trimprefix(filter.name, "inquiries-${terraform.workspace}-") => join(" ", [
        filter.log_group_name, filter.metric_transformation[0].namespace, filter.metric_transformation[0].name,
        "+${filter.metric_transformation[0].value}", "or ${try(coalesce(filter.metric_transformation[0].default_value), "none")}", filter.metric_transformation[0].unit,
        "at", filter.pattern,
      ])
      } == {
      access-Admitted = "/aws/vendedlogs/apigateway/inquiries-${terraform.workspace} inquiries/${terraform.workspace} Admitted +1 or 0 Count at { $.status != \"401\" && ($.integrationStatus = \"2*\" || $.integrationStatus = \"4*\" || $.integrationStatus = \"5*\") }"
      access-NotJson  = "/aws/vendedlogs/apigateway/inquiries-${terraform.workspace} inquiries/${terraform.workspace} NotJson +0 or none Count at "
      access-Refused  = "/aws/vendedlogs/apigateway/inquiries-${terraform.workspace} inquiries/${terraform.workspace} Refused +1 or 0 Count at { $.status = \"401\" }"
      mailer-refused  = "/aws/lambda/inquiries-${terraform.workspace}-mailer inquiries/${terraform.workspace} MailsRefused +1 or none Count at { $.message.outcome = \"refused\" || $.message.outcome = \"no-address\" }"
      memory          = "/aws/lambda/inquiries-${terraform.workspace} inquiries/${terraform.workspace} MaxMemoryUsed +$.record.metrics.maxMemoryUsedMB or none Megabytes at { $.type = \"platform.report\" }"
      not-json        = "/aws/lambda/inquiries-${terraform.workspace} inquiries/${terraform.workspace} NotJson +1 or 0 Count at { $.level = \"WARN\" && $.message.status = 500 }"
    }
    error_message = "A metric filter counts other lines, or a filter is not in this table."
  }
  assert {
    condition = (
      jsondecode(aws_apigatewayv2_stage.this.access_log_settings[0].format).status == "$context.status"
      && jsondecode(aws_apigatewayv2_stage.this.access_log_settings[0].format).integrationStatus == "$context.integration.status"
    )
    error_message = "The metric filters of the access log read other fields than the log has."
  }
  assert {
    condition = (
      aws_route53_health_check.form[0].type == "HTTPS"
      && aws_route53_health_check.form[0].fqdn == "form.cloudfront.net"
      && aws_route53_health_check.form[0].port == 443
      && aws_route53_health_check.form[0].resource_path == "/"
      && aws_route53_health_check.form[0].enable_sni
      && aws_route53_health_check.form[0].request_interval == 30
      && aws_route53_health_check.form[0].failure_threshold == 3
      && aws_route53_health_check.form[0].disabled != true
      && aws_route53_health_check.form[0].invert_healthcheck != true
    )
    error_message = "The health check does not ask for the page of the form."
  }
  assert {
    condition = (
      [for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget.properties.markdown if widget.type == "text"]
      == ["## Is it up?", "## Can users get in?", "## Is it fast?", "## Is mail sent?", "## Who is affected?"]
    )
    error_message = "The dashboard does not have its headings in order."
  }
  assert {
    condition = {
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget.properties.title =>
      join(", ", [for metric in widget.properties.metrics : metric[length(metric) - 1].label]) if widget.type == "metric"
      } == {
      "Requests and failures"                                 = "requests, 4xx, 5xx"
      "Function: errors, internal errors (faults), throttles" = "errors, faults, throttles"
      "Table: throttles and errors"                           = "read throttles, write throttles, put errors, transaction errors, query errors"
      "Refused (401) and admitted requests"                   = "refused, admitted"
      "Form reachable from outside (1: yes)"                  = "form"
      "Latency seen by clients (ms)"                          = "p50, p95, p99"
      "Function: duration (ms), instances, memory (MB)"       = "duration p50, longest duration, instances, memory"
      "Table: latency (ms)"                                   = "query p99, put p99, put with a key p99"
      "Mails: sent, failed, withheld (limit per owner)"       = "sent, failed, withheld"
      "Mailer: delay (ms), dead letters"                      = "delay, dead letters"
    }
    error_message = "A graph of the dashboard is missing or shows other figures."
  }
  assert {
    condition = {
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget.properties.title =>
      regex("^SOURCE '([^']+)'", widget.properties.query)[0] if widget.type == "log"
      } == {
      "Latest failures of mails"    = "/aws/lambda/inquiries-${terraform.workspace}-mailer"
      "Refused and failed requests" = "/aws/vendedlogs/apigateway/inquiries-${terraform.workspace}"
      "Latest internal errors"      = "/aws/lambda/inquiries-${terraform.workspace}"
      "Slowest requests"            = "/aws/vendedlogs/apigateway/inquiries-${terraform.workspace}"
    }
    error_message = "A list of the dashboard is missing or reads another log."
  }
  assert {
    condition = one([
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget.properties.alarms if widget.type == "alarm"
    ]) == concat(values(aws_cloudwatch_metric_alarm.this)[*].arn, ["arn:aws:cloudwatch:us-east-1:111122223333:alarm:form"])
    error_message = "The dashboard does not show every alarm."
  }
  assert {
    condition = alltrue([
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets :
      widget.properties.region == (startswith(widget.properties.title, "Form reachable") ? "us-east-1" : "eu-central-1") if contains(["metric", "log"], widget.type)
    ])
    error_message = "A widget has another region than its figures."
  }
  assert {
    condition = length(distinct([
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : "${widget.x},${widget.y}"
    ])) == length(jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets)
    error_message = "Widgets of the dashboard overlap."
  }
}

run "every_other_setting" {
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

        deletion_protection_enabled = stage == "develop"
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
  # The only way to destroy a protected stage (docs/runbook.md).
  assert {
    condition     = aws_dynamodb_table.this.deletion_protection_enabled == (terraform.workspace == "develop")
    error_message = "Deletion protection cannot be switched on or off."
  }
}
