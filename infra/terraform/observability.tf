locals {
  metric_namespace   = "${var.name}/${local.stage}"
  function_namespace = "Inquiries"

  alarmed = merge(local.mailer_names, { for replies in local.replies[*] : "received" => local.receiver_name })

  failures = flatten([for of in ["errors", "lost"] : formatlist("%s_${of}", keys(local.alarmed))])

  of_api      = { namespace = "AWS/ApiGateway", dimensions = { ApiId = aws_apigatewayv2_api.this.id } }
  of_function = { namespace = "AWS/Lambda", dimensions = { FunctionName = local.name } }
  of_filters  = { namespace = local.metric_namespace, dimensions = {} }
  of_table    = { namespace = "AWS/DynamoDB", dimensions = { TableName = local.name } }
  of_team     = { namespace = "AWS/SES", dimensions = { "ses:configuration-set" = "${local.name}-team" } }
  of_mails    = { namespace = "AWS/SES", dimensions = { "ses:configuration-set" = local.name } }
  of_index = {
    namespace  = "AWS/DynamoDB"
    dimensions = { TableName = local.name, GlobalSecondaryIndexName = "by-state" }
  }

  # By their names in expressions; the statistic is the sum if none is named.
  metrics = merge(
    {
      requests      = merge(local.of_api, { metric = "Count" })
      server_errors = merge(local.of_api, { metric = "5xx" })

      errors    = merge(local.of_function, { metric = "Errors" })
      throttles = merge(local.of_function, { metric = "Throttles" })
      duration  = merge(local.of_function, { metric = "Duration", stat = "Maximum" })
      faults    = merge(local.of_function, { metric = "Faults", namespace = local.function_namespace })

      admitted      = merge(local.of_filters, { metric = "Admitted" })
      refused       = merge(local.of_filters, { metric = "Refused" })
      throttled     = merge(local.of_filters, { metric = "Throttled" })
      not_json      = merge(local.of_filters, { metric = "NotJson" })
      mails_refused = merge(local.of_filters, { metric = "MailsRefused" })
      memory        = merge(local.of_filters, { metric = "MaxMemoryUsed", stat = "Maximum" })

      writes                = merge(local.of_table, { metric = "ConsumedWriteCapacityUnits" })
      read_throttles        = merge(local.of_table, { metric = "ReadThrottleEvents" })
      write_throttles       = merge(local.of_table, { metric = "WriteThrottleEvents" })
      index_read_throttles  = merge(local.of_index, { metric = "ReadThrottleEvents" })
      index_write_throttles = merge(local.of_index, { metric = "WriteThrottleEvents" })

      inbox_errors = merge(local.of_function, { metric = "Errors", dimensions = { FunctionName = local.team_name } })
      inbox_faults = merge(local.of_filters, { metric = "InboxFaults" })

      bounces    = merge(local.of_mails, { metric = "Bounce" })
      complaints = merge(local.of_mails, { metric = "Complaint" })
      mails      = merge(local.of_mails, { metric = "Send" })

      team_bounces    = merge(local.of_team, { metric = "Bounce" })
      team_complaints = merge(local.of_team, { metric = "Complaint" })
      team_mails      = merge(local.of_team, { metric = "Send" })

      days_left = {
        namespace  = "AWS/CertificateManager"
        metric     = "DaysToExpiry"
        dimensions = { CertificateArn = one(local.used_certificates.api) }
        stat       = "Minimum"
      }
      inbox_days_left = {
        namespace  = "AWS/CertificateManager"
        metric     = "DaysToExpiry"
        dimensions = { CertificateArn = one(local.used_certificates.inbox) }
        stat       = "Minimum"
      }
      untimed = {
        namespace  = "AWS/Events"
        metric     = "FailedInvocations"
        dimensions = { RuleName = "${local.mailer_names.inquiries}-digests" }
      }
      dead_letters = {
        namespace  = "AWS/SQS"
        metric     = "ApproximateNumberOfMessagesVisible"
        dimensions = { QueueName = "${local.mailer_names.inquiries}-dead-letters" }
        stat       = "Maximum"
      }
    },
    { for operation in ["PutItem", "Query", "TransactWriteItems", "UpdateItem"] : "${lower(operation)}_errors" => {
      namespace  = "AWS/DynamoDB"
      metric     = "SystemErrors"
      dimensions = { TableName = local.name, Operation = operation }
    } },
    { for kind, name in local.alarmed : "${kind}_age" => {
      namespace  = "AWS/SQS"
      metric     = "ApproximateAgeOfOldestMessage"
      dimensions = { QueueName = "${name}-events" }
      stat       = "Maximum"
    } if kind != "replies" },
    # docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    { for kind, uuid in merge(module.mailer[*].mappings...) : "${kind}_polled" => {
      namespace = "AWS/Lambda", metric = "PolledEventCount", dimensions = { EventSourceMappingUUID = uuid }
    } },
    [for kind, name in local.alarmed : { for suffix, metric in {
      errors = { metric = "Errors" }
      lost   = { metric = "DestinationDeliveryFailures" }
      delay  = { metric = "IteratorAge", stat = "Maximum" }
      failed = { metric = "MailFailures", namespace = local.function_namespace }
    } : "${kind}_${suffix}" => merge(local.of_function, { dimensions = { FunctionName = name } }, metric) }]...
  )

  # ACM renews 60 days before the end (docs.aws.amazon.com/acm/latest/userguide/cloudwatch-metrics.html).
  certificate_alarm = {
    description = "A certificate was not renewed."
    expression  = "days_left"
    minimum     = 30
    period      = 24 * 60 * 60
  }

  # Each has a section in docs/runbook.md. No expression uses FILL, whose effect on a series without data is not
  # documented. Arithmetic takes a missing value as 0, so one series with data is enough. An alarm on AWS/DynamoDB keeps
  # its state while data is missing, whatever treat_missing_data says: 0 * requests ends it with the next requests.
  alarms = {
    function-errors = {
      description = "Invocations ended without a response: clients got 5xx."
      expression  = "errors"
    }
    # Lambda's Errors metric does not count these.
    function-faults = { description = "The function answered 500 for an internal error.", expression = "faults" }
    function-throttles = {
      description = "Lambda refused to start the function: clients got 503."
      expression  = "throttles"
    }
    function-duration = {
      description = "A request ran for more than 80 % of the timeout."
      expression  = "duration"
      threshold   = local.timeout_seconds * 1000 * 0.8
    }
    function-memory = {
      description = "An instance used more than 90 % of its memory."
      expression  = "memory"
      threshold   = local.memory_mb * 0.9
      is_ticket   = true # one user's large bodies and lists
    }
    api-5xx-rate = {
      description = "More than 1 % of the requests were answered with 5xx."
      expression  = "IF(requests > 0, 100 * (server_errors - not_json) / requests, 0)"
      threshold   = 1
      is_slow     = true
    }
    # More than a page with an expired session sends in 5 minutes.
    issuer-outage = {
      description = "Nearly all requests were answered with 401: nobody can use the form."
      expression  = "IF(refused >= 10, 100 * refused / (refused + admitted), 0)"
      threshold   = 95
      is_slow     = true
    }
    api-throttles = {
      description = "More than half of the requests were answered with 429."
      expression  = "IF(throttled >= 10, 100 * throttled / (throttled + refused + admitted), 0)"
      threshold   = 50
      is_slow     = true
    }
    table-throttles = {
      description = "DynamoDB refused reads or writes of the table."
      expression  = "read_throttles + write_throttles + 0 * requests"
      is_ticket   = true # one user's partition
    }
    table-system-errors = {
      description = "DynamoDB answered with 5xx."
      expression  = "putitem_errors + query_errors + transactwriteitems_errors + updateitem_errors + 0 * requests"
    }
    index-throttles = {
      description = "DynamoDB refused reads or writes of the index, and with them inquiries."
      expression  = "index_read_throttles + index_write_throttles + 0 * requests"
    }

    inbox-errors = {
      description = "Pages of the inbox could not be shown."
      expression  = "inbox_errors + inbox_faults"
    }

    certificate-api   = local.certificate_alarm
    certificate-inbox = merge(local.certificate_alarm, { expression = "inbox_days_left" })

    mailer-errors = {
      description = "Invocations of a mailer ended without a result, or it was not invoked."
      expression  = join(" + ", concat(local.failures, ["untimed"]))
    }
    mailer-failures = {
      description = "Mails could not be sent; they are tried again."
      expression  = join(" + ", formatlist("%s_failed", keys(local.alarmed)))
      is_slow     = true
    }
    mailer-refused = {
      description = "Mails were refused for good, and are not tried again."
      expression  = "mails_refused"
      is_ticket   = true # invented addresses
    }
    mailer-delay = {
      description = "A mailer reads the stream more than 15 minutes late."
      expression  = "inquiries_delay + replies_delay"
      threshold   = 15 * 60 * 1000
    }
    # A mapping that is off has no IteratorAge. In an hour with writes, each polls records, which it may filter out.
    mailer-off = {
      description = "A mapping has read none of the rows of the last hour: no mail is sent."
      expression  = "IF(inquiries_polled + 0 * writes > 0 AND replies_polled + 0 * writes > 0, 0, writes)"
      period      = 60 * 60
    }
    mailer-events = {
      description = "An event of SES, such as a received mail, has waited for more than an hour."
      expression  = join(" + ", formatlist("%s_age", [for kind in keys(local.alarmed) : kind if kind != "replies"]))
      threshold   = 60 * 60
    }
    mailer-dead-letters = {
      description = "Mails, or notices of bounces, were given up."
      expression  = "dead_letters"
    }
    mailer-bounces = {
      description = "Mails bounced."
      expression  = "bounces + team_bounces"
      is_ticket   = true # invented addresses
    }
    mailer-complaints = {
      description = "A recipient reported a mail as spam."
      expression  = "complaints + team_complaints"
      is_ticket   = true # invented addresses
    }
    mailer-volume = {
      description = "More mails were sent than a day's quota lasts for."
      expression  = "mails + team_mails"
      threshold   = 170 # 50,000 a day, a usual first quota, are 174 in five minutes
      is_slow     = true
      is_ticket   = true # invented addresses
    }
  }
}

locals {
  # The access log's values are strings, so a line that a pattern does not match counts as `otherwise`: each request
  # gives data.
  metric_filters = merge(
    {
      # Zeros for not-json, whose log group is empty until a request reaches the function.
      access-NotJson = { log = aws_cloudwatch_log_group.access, pattern = "", metric = "NotJson", value = "0" }
      access-Refused = {
        log       = aws_cloudwatch_log_group.access
        pattern   = "{ $.status = \"401\" }"
        metric    = "Refused"
        otherwise = "0"
      }
      # By the gateway; the function's own 429 has an integrationStatus.
      access-Throttled = {
        log       = aws_cloudwatch_log_group.access
        pattern   = "{ $.status = \"429\" && $.integrationStatus != \"429\" }"
        metric    = "Throttled"
        otherwise = "0"
      }
      # The function has answered, with integrationStatus.
      access-Admitted = {
        log = aws_cloudwatch_log_group.access
        pattern = format(
          "{ $.status != \"401\" && (%s) }",
          join(" || ", formatlist("$.integrationStatus = \"%d*\"", [2, 4, 5])),
        )
        metric    = "Admitted"
        otherwise = "0"
      }
      # A body that is not JSON is a 500 by the contract, which api-5xx-rate subtracts.
      not-json = {
        log       = module.function.log_group
        pattern   = "{ $.level = \"WARN\" && $.message.status = 500 }"
        metric    = "NotJson"
        otherwise = "0"
      }
      # Only the platform.report line has the memory, without Lambda Insights.
      memory = {
        log     = module.function.log_group
        pattern = "{ $.type = \"platform.report\" }"
        metric  = "MaxMemoryUsed"
        value   = "$.record.metrics.maxMemoryUsedMB"
        unit    = "Megabytes"
      }
    },
    # The function has answered 503 (inbox/handler.ts).
    { for team in module.team : "inbox-faults" => {
      log = team.log_group, pattern = "{ $.level = \"ERROR\" }", metric = "InboxFaults", otherwise = "0"
    } },
    # Lambda does not know of these (mail/mailer.ts).
    { for kind, group in merge(module.mailer[*].log_groups...) : "mailer-refused-${kind}" => {
      log = group
      pattern = format(
        "{ %s }", join(" || ", formatlist("$.message.outcome = \"%s\"", ["refused", "no-address", "undelivered"])),
      )
      metric = "MailsRefused"
    } },
  )
}

resource "aws_cloudwatch_log_metric_filter" "this" {
  for_each = local.metric_filters

  name           = "${local.name}-${each.key}"
  log_group_name = each.value.log.name
  pattern        = each.value.pattern

  metric_transformation {
    namespace     = local.metric_namespace
    name          = each.value.metric
    value         = try(each.value.value, "1")
    default_value = try(each.value.otherwise, null)
    unit          = try(each.value.unit, "Count")
  }
}

module "alarms" {
  source = "./alarms"

  name       = local.name
  topic_name = "${local.name}-alarms"
  email      = local.settings.alarm_email
  topic_arns = local.settings.alarm_topic_arns
  metrics    = local.metrics
  alarms = {
    for name, alarm in local.alarms : name => alarm
    if(local.inbox != null || !startswith(name, "mailer-"))
    && (length(local.used_certificates.api) > 0 || name != "certificate-api")
    && (length(local.used_certificates.inbox) > 0 || name != "certificate-inbox")
    && (length(local.team) > 0 || name != "inbox-errors")
  }
}

locals {
  issuer_url = regex("^https://(?P<host>[^/:]+):?(?P<port>[0-9]*)(?P<path>/.*)?$", local.issuer)

  # Not the API: a health check takes its 401 for a failure.
  health_checks = { for name, check in {
    form = local.has_site ? {
      what = "The form"
      host = trimprefix(local.site_origin, "https://")
      path = "/"
    } : null
    issuer = {
      what = "The issuer, without which the gateway checks no token,"
      host = local.issuer_url.host
      port = local.issuer_url.port == "" ? 443 : tonumber(local.issuer_url.port)
      path = "${trimsuffix(coalesce(local.issuer_url.path, "/"), "/")}/.well-known/openid-configuration"
    }
    sign-in = local.has_site && local.has_user_pool ? {
      what = "The sign-in page"
      host = trimprefix(local.sign_in_origin, "https://")
      path = join("&", [
        "/login?client_id=${local.client_id}", "response_type=code", "scope=openid+email",
        "redirect_uri=${urlencode("${local.site_origin}/")}",
      ])
    } : null
  } : name => check if check != null && local.has_health_checks }

  metrics_us_east_1 = merge(
    { for name, check in aws_route53_health_check.this : replace(name, "-", "_") => {
      namespace  = "AWS/Route53"
      metric     = "HealthCheckStatus"
      dimensions = { HealthCheckId = check.id }
      stat       = "Minimum"
    } },
    { for arn in local.used_certificates.site : "days_left" => merge(local.metrics.days_left, {
      dimensions = { CertificateArn = arn }
    }) },
  )
}

resource "aws_route53_health_check" "this" {
  for_each = local.health_checks

  type              = "HTTPS"
  fqdn              = each.value.host
  port              = try(each.value.port, 443)
  resource_path     = each.value.path
  enable_sni        = true
  request_interval  = 30
  failure_threshold = 3
  regions           = ["eu-west-1", "us-east-1", "us-west-2"]

  tags = { Name = "${local.name}-${each.key}" }
}

# Route 53 writes metrics in this region only, which may be the stage's, so the topic has another name.
module "alarms_us_east_1" {
  source    = "./alarms"
  providers = { aws = aws.us_east_1 }

  name       = local.name
  topic_name = "${local.name}-form"
  email      = local.settings.alarm_email
  topic_arns = local.settings.alarm_topic_arns
  metrics    = local.metrics_us_east_1
  alarms = merge(
    { for name, check in local.health_checks : "${name}-unreachable" => {
      description = "${check.what} did not answer from outside AWS for more than a minute."
      expression  = replace(name, "-", "_")
      minimum     = 1
      period      = 60
      is_slow     = true
      needs_data  = true # written every minute
    } },
    { for arn in local.used_certificates.site : "certificate-site" => local.certificate_alarm },
  )
}

# A graph of each alarm, and how long clients wait. CloudWatch places them, four in a row
# (docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html).
resource "aws_cloudwatch_dashboard" "this" {
  count = local.has_dashboard ? 1 : 0

  dashboard_name = local.name

  dashboard_body = jsonencode({
    start = "-PT6H"
    widgets = [for properties in concat(
      [{ title = "Latency seen by clients", region = local.region, metrics = [
        for stat in ["p50", "p95", "p99"] :
        ["AWS/ApiGateway", "Latency", "ApiId", aws_apigatewayv2_api.this.id, { stat = stat }]
      ] }],
      flatten([for alarms in [module.alarms, module.alarms_us_east_1] : [for name, alarm in alarms.all : {
        title       = name
        region      = alarms.region
        annotations = { alarms = [alarm.arn] }
      }]]),
    ) : { type = "metric", properties = properties }]
  })
}
