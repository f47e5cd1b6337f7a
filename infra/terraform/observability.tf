locals {
  # Namespaces of the metric filters below, and of the metrics that src/log.ts writes by the function's name.
  metric_namespace   = "${var.name}/${local.stage}"
  function_namespace = "Inquiries"

  # Shared by the alarms and the dashboard.
  api_dimensions      = { ApiId = aws_apigatewayv2_api.this.id }
  function_dimensions = { FunctionName = aws_lambda_function.this.function_name }
  table_dimensions    = { TableName = aws_dynamodb_table.this.name }
  index_dimensions    = merge(local.table_dimensions, { GlobalSecondaryIndexName = "by-state" })
  mail_dimensions     = { "ses:configuration-set" = local.name }

  # ACM renews 60 days before the end, and writes the metric once a day or more (docs.aws.amazon.com/acm/latest/userguide/cloudwatch-metrics.html).
  certificate_alarm = {
    description = "A certificate ends in less than 30 days: it has not been renewed. Look at its status in ACM and at the DNS record that validates it (terraform output dns_records); a certificate of your own has to be imported again."
    minimum     = 30
    period      = 24 * 60 * 60
    metric      = { namespace = "AWS/CertificateManager", name = "DaysToExpiry", stat = "Minimum" }
  }

  requests = { namespace = "AWS/ApiGateway", name = "Count", stat = "Sum", dimensions = local.api_dimensions }

  # No expression uses FILL: its documentation does not say what it makes of a series that never had data,
  # which is how series of failures are at first. Arithmetic takes a missing value as 0, so a sum needs only
  # one series with data. Expressions in which one series limits another do not rely on that either: the
  # filters of the access log have a value for every request. An alarm on metrics of AWS/DynamoDB keeps its
  # state while data is missing, whatever treat_missing_data says, and DynamoDB writes these only when
  # something fails: 0 * requests ends such an alarm with the next requests.
  alarms = {
    function-errors = {
      description = "Invocations ended without a response (timeout, out of memory, failed start): clients got 5xx from the gateway. Look at the function's log group for platform.report lines whose status is not success."
      metric      = { namespace = "AWS/Lambda", name = "Errors", stat = "Sum", dimensions = local.function_dimensions }
    }
    function-faults = {
      description = "The function answered 500 for an internal error and logged it at level ERROR, which Lambda's Errors metric does not count. Look at message.errorName and message.requestId in the function's log group."
      metric      = { namespace = local.function_namespace, name = "Faults", stat = "Sum", dimensions = local.function_dimensions }
    }
    function-throttles = {
      description = "Lambda refused to start the function: clients got 503 from the gateway. Look at ConcurrentExecutions against reserved_concurrency and the account's concurrency limit."
      metric      = { namespace = "AWS/Lambda", name = "Throttles", stat = "Sum", dimensions = local.function_dimensions }
    }
    function-duration = {
      description = "A request ran for more than 80 % of the ${local.timeout_seconds} s timeout. Look at the trace of the slowest request and at the latency of DynamoDB; the function's own timeouts for DynamoDB are much shorter."
      threshold   = local.timeout_seconds * 1000 * 0.8
      metric      = { namespace = "AWS/Lambda", name = "Duration", stat = "Maximum", dimensions = local.function_dimensions }
    }
    function-memory = {
      is_ticket   = true # one user's large bodies and lists
      description = "An instance used more than 90 % of its ${local.memory_mb} MB; beyond that, Lambda ends the instance during a request. Look at maxMemoryUsedMB in the platform.report lines and at the size of recent requests and lists."
      threshold   = local.memory_mb * 0.9
      metric      = { namespace = local.metric_namespace, name = "MaxMemoryUsed", stat = "Maximum" }
    }
    api-5xx-rate = {
      description = "More than 1 % of the requests were answered with 5xx in two of the last three periods, not counting bodies that are not JSON. Look at status, integrationError and functionRequestId in the access log, then at the other alarms for the cause."
      threshold   = 1
      is_slow     = true
      expression  = "IF(requests > 0, 100 * (failures - not_json) / requests, 0)"
      queries = {
        failures = { namespace = "AWS/ApiGateway", name = "5xx", stat = "Sum", dimensions = local.api_dimensions }
        requests = local.requests
        not_json = { namespace = local.metric_namespace, name = "NotJson", stat = "Sum" }
      }
    }
    issuer-outage = {
      description = "Nearly all requests were answered with 401 in two of the last three periods: nobody can use the form. Look at authorizerError in the access log and at the issuer's /.well-known/openid-configuration and the keys it names. Without tokens in the requests it is a scan, not an outage."
      # 10 requests are more than one page with an expired session sends in 5 minutes.
      expression = "IF(refused >= 10, 100 * refused / (refused + admitted), 0)"
      threshold  = 95
      is_slow    = true
      queries = {
        refused  = { namespace = local.metric_namespace, name = "Refused", stat = "Sum" }
        admitted = { namespace = local.metric_namespace, name = "Admitted", stat = "Sum" }
      }
    }
    api-throttles = {
      description = "The gateway answered more than half of the requests with 429 in two of the last three periods: nobody can rely on the form. Look at who sends so many requests in the access log, and at throttling and the account's quota of requests."
      expression  = "IF(throttled >= 10, 100 * throttled / (throttled + refused + admitted), 0)"
      threshold   = 50
      is_slow     = true
      queries = {
        throttled = { namespace = local.metric_namespace, name = "Throttled", stat = "Sum" }
        refused   = { namespace = local.metric_namespace, name = "Refused", stat = "Sum" }
        admitted  = { namespace = local.metric_namespace, name = "Admitted", stat = "Sum" }
      }
    }
    table-throttles = {
      is_ticket   = true # one user's partition
      description = "DynamoDB refused reads or writes of the table. Look at whether one owner's partition is hot (1,000 write or 3,000 read units a second each) or the load exceeds the table's current on-demand capacity."
      expression  = "reads + writes + 0 * requests"
      queries = {
        reads    = { namespace = "AWS/DynamoDB", name = "ReadThrottleEvents", stat = "Sum", dimensions = local.table_dimensions }
        writes   = { namespace = "AWS/DynamoDB", name = "WriteThrottleEvents", stat = "Sum", dimensions = local.table_dimensions }
        requests = local.requests
      }
    }
    table-system-errors = {
      description = "DynamoDB answered with 5xx. Look at the AWS Health Dashboard of the region; requests are retried, so clients are affected only if function-faults is in alarm as well."
      expression  = "puts + transactions + updates + queries + 0 * requests"
      queries = {
        puts         = { namespace = "AWS/DynamoDB", name = "SystemErrors", stat = "Sum", dimensions = merge(local.table_dimensions, { Operation = "PutItem" }) }
        transactions = { namespace = "AWS/DynamoDB", name = "SystemErrors", stat = "Sum", dimensions = merge(local.table_dimensions, { Operation = "TransactWriteItems" }) }
        updates      = { namespace = "AWS/DynamoDB", name = "SystemErrors", stat = "Sum", dimensions = merge(local.table_dimensions, { Operation = "UpdateItem" }) }
        queries      = { namespace = "AWS/DynamoDB", name = "SystemErrors", stat = "Sum", dimensions = merge(local.table_dimensions, { Operation = "Query" }) }
        requests     = local.requests
      }
    }
    index-throttles = {
      description = "DynamoDB refused reads or writes of the index by-state, and with a write of the index the write of the inquiry itself. Look at throttlingReasons in the function's log, which names the limit."
      expression  = "reads + writes + 0 * requests"
      queries = {
        reads    = { namespace = "AWS/DynamoDB", name = "ReadThrottleEvents", stat = "Sum", dimensions = local.index_dimensions }
        writes   = { namespace = "AWS/DynamoDB", name = "WriteThrottleEvents", stat = "Sum", dimensions = local.index_dimensions }
        requests = local.requests
      }
    }

    # Only with a domain.
    certificate-api = merge(local.certificate_alarm, { metric = merge(local.certificate_alarm.metric, {
      dimensions = { CertificateArn = one(values(local.used_certificates.api)) }
    }) })

    # Only in a stage with the setting `inbox`.
    mailer-errors = {
      description = "Invocations of a mailer ended without a result, Lambda could not write to the dead-letter queue, or the timer of the digests could not invoke it. Look at the mailer's log group for platform.report lines whose status is not success."
      expression  = "errors_inquiries + errors_replies + lost_inquiries + lost_replies + untimed"
      queries = merge(
        { for kind, name in local.mailer_names : "errors_${kind}" => { namespace = "AWS/Lambda", name = "Errors", stat = "Sum", dimensions = { FunctionName = name } } },
        { for kind, name in local.mailer_names : "lost_${kind}" => { namespace = "AWS/Lambda", name = "DestinationDeliveryFailures", stat = "Sum", dimensions = { FunctionName = name } } },
        { untimed = { namespace = "AWS/Events", name = "FailedInvocations", stat = "Sum", dimensions = { RuleName = "${local.mailer_names.inquiries}-digests" } } },
      )
    }
    mailer-failures = {
      description = "Mails, or a digest, could not be sent in two of the last three periods; they are tried again. Look at the error names in the mailer's log group and at the account's sending status in SES."
      is_slow     = true
      expression  = "inquiries + replies"
      queries     = { for kind, name in local.mailer_names : kind => { namespace = local.function_namespace, name = "MailFailures", stat = "Sum", dimensions = { FunctionName = name } } }
    }
    mailer-refused = {
      is_ticket   = true # invented addresses
      description = "Mails were refused for good and are not tried again: SES does not take them, their address cannot be mailed to, or the row is malformed. Look at the lines with outcome refused or no-address in the mailer's log group, which name the inquiries."
      metric      = { namespace = local.metric_namespace, name = "MailsRefused", stat = "Sum" }
    }
    mailer-delay = {
      description = "The mailers read the stream more than 15 minutes late: mails are late, and after 6 hours those about inquiries are left to a digest. Look at mailer-failures, at SES's sending rate (outcome deferred) and at the mailer's throttles."
      threshold   = 15 * 60 * 1000
      expression  = "inquiries + replies"
      queries     = { for kind, name in local.mailer_names : kind => { namespace = "AWS/Lambda", name = "IteratorAge", stat = "Maximum", dimensions = { FunctionName = name } } }
    }
    # A mapping that is off has no IteratorAge. In an hour with writes, each mapping polls records, which it may filter out.
    # docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    mailer-off = {
      description = "Rows were written in the last hour, and an event source mapping has read none: no mail is sent. Look at whether both mappings of the table's stream are enabled, and deploy."
      period      = 60 * 60
      expression  = "IF(inquiries + 0 * writes > 0 AND replies + 0 * writes > 0, 0, writes)"
      queries = merge(
        { writes = { namespace = "AWS/DynamoDB", name = "ConsumedWriteCapacityUnits", stat = "Sum", dimensions = local.table_dimensions } },
        { for kind, mapping in merge(module.mailer[*].mappings...) : kind => { namespace = "AWS/Lambda", name = "PolledEventCount", stat = "Sum", dimensions = { EventSourceMappingUUID = mapping.uuid } } },
      )
    }
    mailer-dead-letters = {
      description = "Mails, or notices of bounces, were given up: messages wait in the dead-letter queue. Inquiries are in a digest within 2 hours; replies are not. Look at requestContext.requestId in the messages and at the mailer's log lines of that request, which name the inquiries, and send them again."
      metric      = { namespace = "AWS/SQS", name = "ApproximateNumberOfMessagesVisible", stat = "Maximum", dimensions = { QueueName = "${local.mailer_names.inquiries}-dead-letters" } }
    }
    mailer-bounces = {
      is_ticket   = true # invented addresses
      description = "Mails bounced: the team's, a reply's or one of the user pool. Look at the mail that the team got, which names the address, or at the mailer's log (outcome undelivered) if it is the team's own; above 5 % of all mails AWS reviews the account."
      metric      = { namespace = "AWS/SES", name = "Bounce", stat = "Sum", dimensions = local.mail_dimensions }
    }
    mailer-complaints = {
      is_ticket   = true # invented addresses
      description = "A recipient reported a mail as spam. Look at the mail that the team got, which names the address; above 0.1 % of all mails AWS reviews the account."
      metric      = { namespace = "AWS/SES", name = "Complaint", stat = "Sum", dimensions = local.mail_dimensions }
    }
    mailer-volume = {
      is_ticket   = true # invented addresses
      description = "More mails were sent in two of the last three periods than the first daily quota of an account lasts for. Look at what the mailer's MailsSent has of them: the rest are sign-ups and forgotten passwords."
      is_slow     = true
      threshold   = 170 # 50,000 a day, the quota that accounts begin with, are 174 in five minutes
      metric      = { namespace = "AWS/SES", name = "Send", stat = "Sum", dimensions = local.mail_dimensions }
    }
  }
}

locals {
  # Figures of the requests in the access log, whose values are strings, have data whenever there are
  # requests: a line that a pattern does not match counts as the value `otherwise`.
  metric_filters = merge(
    {
      # Zeros for the metric of the filter not-json, whose log group is empty as long as no request reaches
      # the function.
      access-NotJson = { log = aws_cloudwatch_log_group.access, pattern = "", metric = "NotJson", value = "0" }
      # By the gateway's authorizer, or by the function because of the claims.
      access-Refused = { log = aws_cloudwatch_log_group.access, pattern = "{ $.status = \"401\" }", metric = "Refused", otherwise = "0" }
      # By the gateway; the function's own 429, of one user, has an integrationStatus.
      access-Throttled = { log = aws_cloudwatch_log_group.access, pattern = "{ $.status = \"429\" && $.integrationStatus != \"429\" }", metric = "Throttled", otherwise = "0" }
      # The function has answered; integrationStatus is the status of its answer.
      access-Admitted = { log = aws_cloudwatch_log_group.access, pattern = "{ $.status != \"401\" && $.routeKey != \"GET /probe\" && ($.integrationStatus = \"2*\" || $.integrationStatus = \"4*\" || $.integrationStatus = \"5*\") }", metric = "Admitted", otherwise = "0" }
      # The contract answers a body that is not JSON, a client error, with 500. The gateway counts it as 5xx;
      # the alarm subtracts it.
      not-json = { log = aws_cloudwatch_log_group.function, pattern = "{ $.level = \"WARN\" && $.message.status = 500 }", metric = "NotJson", otherwise = "0" }
      # Without Lambda Insights there is no metric for memory; Lambda's platform.report log line has the figure.
      memory = { log = aws_cloudwatch_log_group.function, pattern = "{ $.type = \"platform.report\" }", metric = "MaxMemoryUsed", value = "$.record.metrics.maxMemoryUsedMB", unit = "Megabytes" }
    },
    # The mailer does not report these to Lambda (src/mailer/mailer.ts), so that they do not hold back what follows.
    { for group in module.mailer[*].log_group : "mailer-refused" => { log = group, pattern = "{ $.message.outcome = \"refused\" || $.message.outcome = \"no-address\" }", metric = "MailsRefused" } },
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
  alarms = {
    for name, alarm in local.alarms : name => alarm
    if(local.inbox != null || !startswith(name, "mailer-")) && (length(local.used_certificates.api) > 0 || name != "certificate-api")
  }
}

locals {
  issuer_url = regex("^https://(?P<host>[^/:]+):?(?P<port>[0-9]*)(?P<path>/.*)?$", local.issuer)

  # What Route 53 asks for from outside AWS. The API answers a request without a token with 401, which a health check
  # counts as a failure: /probe turns it into a 200 (api.tf).
  health_checks = { for name, check in {
    form = local.has_site ? { host = trimprefix(local.site_origin, "https://"), path = "/" } : null
    api  = local.settings.probe ? { host = trimprefix(local.api_url, "https://"), path = "/probe" } : null
    issuer = local.has_site || local.settings.probe ? {
      host = local.issuer_url.host
      port = local.issuer_url.port == "" ? 443 : tonumber(local.issuer_url.port)
      path = "${trimsuffix(coalesce(local.issuer_url.path, "/"), "/")}/.well-known/openid-configuration"
    } : null
    sign-in = local.has_site && local.has_user_pool ? {
      host = trimprefix(local.sign_in_origin, "https://")
      path = "/login?client_id=${local.client_id}&response_type=code&scope=openid+email&redirect_uri=${urlencode("${local.site_origin}/")}"
    } : null
  } : name => check if check != null }

  health_check_descriptions = {
    form    = "The form did not answer from outside AWS for more than a minute. Look at https://status.aws.amazon.com for CloudFront, at the DNS records and the certificate of site_domain, and at whether index.html is in the bucket (npm run deploy uploads it)."
    api     = "The API did not answer from outside AWS for more than a minute. Look at the function's other alarms, at the DNS records and the certificate of domain, and at the AWS Health Dashboard for API Gateway."
    issuer  = "The issuer's /.well-known/openid-configuration did not answer for more than a minute: the gateway cannot check tokens. Look at the issuer, and at the AWS Health Dashboard for Cognito if it is the stage's user pool."
    sign-in = "The sign-in page did not answer for more than a minute. Look at the user pool's domain and at the form's app client, whose callback URL is the form's address."
  }
}

# From three regions, the fewest: each call of the API costs a request, an invocation and log lines.
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

# Route 53 writes its metrics in this region only. Another name of the topic, for stages of that region.
module "alarms_us_east_1" {
  source    = "./alarms"
  providers = { aws = aws.us_east_1 }

  name       = local.name
  topic_name = "${local.name}-form"
  email      = local.settings.alarm_email
  topic_arns = local.settings.alarm_topic_arns
  alarms = merge(
    { for name, check in aws_route53_health_check.this : "${name}-unreachable" => {
      description = local.health_check_descriptions[name]
      minimum     = 1
      period      = 60
      is_slow     = true
      # Route 53 writes a value every minute, with or without visitors: without one, nobody is looking.
      needs_data = true
      metric     = { namespace = "AWS/Route53", name = "HealthCheckStatus", stat = "Minimum", dimensions = { HealthCheckId = check.id } }
    } },
    { for name, arn in local.used_certificates.site : "certificate-site" => merge(local.certificate_alarm, {
      metric = merge(local.certificate_alarm.metric, { dimensions = { CertificateArn = arn } })
    }) },
  )
}

locals {
  # Rows of up to three widgets.
  dashboard_rows = [for row in local.all_dashboard_rows : row if local.inbox != null || row.title != "Is mail sent?"]
  all_dashboard_rows = [
    {
      title = "Is it up?"
      widgets = [
        { type = "metric", properties = { title = "Requests and failures", stat = "Sum", metrics = [
          ["AWS/ApiGateway", "Count", "ApiId", aws_apigatewayv2_api.this.id, { label = "requests" }],
          [".", "4xx", ".", ".", { label = "4xx" }],
          [".", "5xx", ".", ".", { label = "5xx" }],
        ] } },
        { type = "metric", properties = { title = "Function: errors, internal errors (faults), throttles", stat = "Sum", metrics = [
          ["AWS/Lambda", "Errors", "FunctionName", aws_lambda_function.this.function_name, { label = "errors" }],
          [local.function_namespace, "Faults", ".", ".", { label = "faults" }],
          ["AWS/Lambda", "Throttles", ".", ".", { label = "throttles" }],
        ] } },
        { type = "metric", properties = { title = "Table: throttles and errors", stat = "Sum", metrics = [
          ["AWS/DynamoDB", "ReadThrottleEvents", "TableName", aws_dynamodb_table.this.name, { label = "read throttles" }],
          [".", "WriteThrottleEvents", ".", ".", { label = "write throttles" }],
          [".", "SystemErrors", ".", ".", "Operation", "PutItem", { label = "put errors" }],
          [".", ".", ".", ".", ".", "TransactWriteItems", { label = "transaction errors" }],
          [".", ".", ".", ".", ".", "Query", { label = "query errors" }],
        ] } },
      ]
    },
    {
      title = "Can users get in?"
      widgets = concat(
        [{ type = "metric", properties = { title = "Refused (401) and admitted requests", stat = "Sum", metrics = [
          [local.metric_namespace, "Refused", { label = "refused" }],
          [".", "Admitted", { label = "admitted" }],
        ] } }],
        [for checks in [aws_route53_health_check.this] :
          { type = "metric", properties = { title = "Reachable from outside (1: yes)", region = "us-east-1", stat = "Minimum", metrics = [
            for name, check in checks : ["AWS/Route53", "HealthCheckStatus", "HealthCheckId", check.id, { label = name }]
          ] } } if length(checks) > 0
        ],
      )
    },
    {
      title = "Is it fast?"
      widgets = [
        { type = "metric", properties = { title = "Latency seen by clients (ms)", metrics = [
          for stat in ["p50", "p95", "p99"] : ["AWS/ApiGateway", "Latency", "ApiId", aws_apigatewayv2_api.this.id, { stat = stat, label = stat }]
        ] } },
        { type = "metric", properties = { title = "Function: duration (ms), instances, memory (MB)", metrics = [
          ["AWS/Lambda", "Duration", "FunctionName", aws_lambda_function.this.function_name, { stat = "p50", label = "duration p50" }],
          ["...", { stat = "Maximum", label = "longest duration" }],
          [".", "ConcurrentExecutions", ".", ".", { stat = "Maximum", label = "instances", yAxis = "right" }],
          [local.metric_namespace, "MaxMemoryUsed", { stat = "Maximum", label = "memory", yAxis = "right" }],
        ] } },
        { type = "metric", properties = { title = "Table: latency (ms)", metrics = [
          ["AWS/DynamoDB", "SuccessfulRequestLatency", "TableName", aws_dynamodb_table.this.name, "Operation", "Query", { stat = "p99", label = "query p99" }],
          ["...", "PutItem", { stat = "p99", label = "put p99" }],
          ["...", "TransactWriteItems", { stat = "p99", label = "put with a key p99" }],
        ] } },
      ]
    },
    {
      title = "Is mail sent?"
      widgets = [
        { type = "metric", properties = { title = "Mails: sent, failed, withheld (limit per owner)", stat = "Sum", metrics = [
          [local.function_namespace, "MailsSent", "FunctionName", local.mailer_names.inquiries, { label = "sent" }],
          ["...", local.mailer_names.replies, { label = "answers sent" }],
          [".", "MailFailures", ".", local.mailer_names.inquiries, { label = "failed" }],
          ["...", local.mailer_names.replies, { label = "answers failed" }],
          [".", "MailsWithheld", ".", local.mailer_names.inquiries, { label = "withheld" }],
        ] } },
        { type = "metric", properties = { title = "Mailer: delay (ms), dead letters", stat = "Maximum", metrics = [
          ["AWS/Lambda", "IteratorAge", "FunctionName", local.mailer_names.inquiries, { label = "delay" }],
          ["...", local.mailer_names.replies, { label = "delay of answers" }],
          ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "${local.mailer_names.inquiries}-dead-letters", { label = "dead letters", yAxis = "right" }],
        ] } },
        { type = "log", properties = { title = "Latest failures of mails", view = "table", query = "SOURCE '/aws/lambda/${local.mailer_names.inquiries}' | filter level in ['ERROR', 'WARN'] | fields @timestamp, message.inquiry, message.mail, message.outcome, message.errorName | sort @timestamp desc | limit 20" } },
      ]
    },
    {
      title = "Who is affected?"
      widgets = [
        { type = "log", properties = { title = "Refused and failed requests", view = "table", query = "SOURCE '${aws_cloudwatch_log_group.access.name}' | filter status like /^[45]/ | stats count(*) as requests by status, routeKey, authorizerError | sort requests desc | limit 20" } },
        { type = "log", properties = { title = "Latest internal errors", view = "table", query = "SOURCE '${aws_cloudwatch_log_group.function.name}' | filter level = 'ERROR' | fields @timestamp, message.errorName, message.requestId | sort @timestamp desc | limit 20" } },
        { type = "log", properties = { title = "Slowest requests", view = "table", query = "SOURCE '${aws_cloudwatch_log_group.access.name}' | fields @timestamp, routeKey, status, responseLatency, integrationLatency, requestId | sort responseLatency desc | limit 20" } },
      ]
    },
  ]
}

resource "aws_cloudwatch_dashboard" "this" {
  dashboard_name = local.name

  dashboard_body = jsonencode({
    start          = "-PT6H"
    periodOverride = "inherit"
    widgets = concat(
      [{
        type       = "alarm", x = 0, y = 0, width = 24, height = 3
        properties = { title = "Alarms of ${local.name}", alarms = concat(values(module.alarms.all)[*].arn, values(module.alarms_us_east_1.all)[*].arn) }
      }],
      flatten([for row, content in local.dashboard_rows : concat(
        [{
          type       = "text", x = 0, y = 3 + row * 7, width = 24, height = 1
          properties = { markdown = "## ${content.title}" }
        }],
        [for column, widget in content.widgets : {
          type       = widget.type, x = column * 8, y = 4 + row * 7, width = 8, height = 6
          properties = merge({ region = local.region, view = "timeSeries" }, widget.properties)
        }],
      )]),
    )
  })
}
