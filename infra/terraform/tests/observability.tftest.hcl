# Alarms, metric filters and the dashboard, in every stage: with everything that has alarms, and without what is optional. Ids in
# messages: see every_stage.tftest.hcl. tests/infra/module.test.ts evaluates the expressions of the alarms.

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
  target = aws_cloudfront_distribution.site
  values = { domain_name = "form.cloudfront.net" }
}

override_resource {
  target = aws_route53_health_check.form
  values = { id = "mockcheck" }
}

override_resource {
  target = aws_sqs_queue.dead_letters
  values = { arn = "arn:aws:sqs:eu-central-1:111122223333:dead-letters" }
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
      inbox       = { to = "team@example.org", from = "${stage}@mail.example.com" }
    }
  }
}

run "everything" {
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
      for filter in concat(
        values(aws_cloudwatch_log_metric_filter.access), aws_cloudwatch_log_metric_filter.mails_refused,
        [aws_cloudwatch_log_metric_filter.memory, aws_cloudwatch_log_metric_filter.not_json],
        ) : trimprefix(filter.name, "inquiries-${terraform.workspace}-") => join(" ", [
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

run "only_the_api" {
  variables {
    stages = {
      for stage in ["develop", "main", "release"] : stage => {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
        alarm_email = "${stage}@example.com"

        deletion_protection_enabled = stage == "develop"
      }
    }
  }

  # The only way to destroy a protected stage (docs/runbook.md).
  assert {
    condition     = aws_dynamodb_table.this.deletion_protection_enabled == (terraform.workspace == "develop")
    error_message = "Deletion protection cannot be switched on or off."
  }
  assert {
    condition     = length(aws_route53_health_check.form) + length(aws_cloudwatch_metric_alarm.form) + length(aws_sns_topic.form) == 0
    error_message = "A form that this stage does not serve is watched."
  }
  assert {
    condition     = length(aws_cloudwatch_metric_alarm.this) == 10 && !anytrue([for name in keys(aws_cloudwatch_metric_alarm.this) : startswith(name, "mailer-")])
    error_message = "There is an alarm on mail without the setting inbox, or another is missing."
  }
  assert {
    condition = [
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : try(widget.properties.markdown, widget.properties.title)
      ] == [
      "Alarms of inquiries-${terraform.workspace}",
      "## Is it up?", "Requests and failures", "Function: errors, internal errors (faults), throttles", "Table: throttles and errors",
      "## Can users get in?", "Refused (401) and admitted requests",
      "## Is it fast?", "Latency seen by clients (ms)", "Function: duration (ms), instances, memory (MB)", "Table: latency (ms)",
      "## Who is affected?", "Refused and failed requests", "Latest internal errors", "Slowest requests",
    ]
    error_message = "The dashboard has widgets of what the stage does not have, or lacks others."
  }
}
