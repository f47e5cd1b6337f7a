# A stage with every setting; `npm run check:infra` runs this file in the workspace main. Ids in comments: see
# every_stage.tftest.hcl.

mock_provider "aws" { source = "./tests/mocks" }

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"

  mock_data "aws_region" { defaults = { id = "us-east-1" } }

  mock_resource "aws_sns_topic" { defaults = { arn = "arn:aws:sns:us-east-1:111122223333:mock" } }
}

# Otherwise it stops the test from removing a protected stage, which consists of mocks.
override_resource {
  target = terraform_data.guard
  values = { output = { is_protected = false, message = "" } }
}

variables {
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  permissions_boundaries = { main = "arn:aws:iam::111122223333:policy/boundary" }

  stages = {
    main = {
      hosted_zone      = "example.com"
      domain           = { name = "api.example.com" }
      site_domain      = { name = "contact.example.com" }
      alarm_email      = "main@example.com"
      alarm_topic_arns = ["arn:aws:sns:eu-central-1:111122223333:pager", "arn:aws:sns:us-east-1:111122223333:pager"]
      sign_up          = false
      totp             = true
      probe            = true
      inbox            = { to = "team@example.org", from = "main@mail.example.com" }
      form             = { name = "Example Ltd", logo = "favicon.svg", imprint = "https://example.com/legal", topics = [{ en = "Orders" }, { en = "Returns", de = "Rückgabe" }], languages = ["en", "ar"] }
    }
  }
}

run "mail_alarms_and_form" {
  # Cognito.6
  assert {
    condition = (
      [module.identity[0].pool.admin_create_user_config[0].allow_admin_create_user_only, module.identity[0].pool.mfa_configuration, module.identity[0].pool.deletion_protection] == [true, "OPTIONAL", "ACTIVE"]
      && [for mails in module.identity[0].pool.email_configuration : [mails.email_sending_account, mails.from_email_address, mails.source_arn, mails.configuration_set]]
      == [["DEVELOPER", "main@mail.example.com", module.mailer[0].identities[0].arn, "inquiries-main"]]
    )
    error_message = "The pool is not protected or mails otherwise."
  }
  assert {
    condition     = [aws_iam_role.function.permissions_boundary, local.shared.permissions_boundary] == [var.permissions_boundaries.main, var.permissions_boundaries.main]
    error_message = "A role is not bounded."
  }
  assert {
    condition = (
      output.form_config == merge({ for key, value in var.stages.main.form : key => value if value != null }, {
        answersFrom = "main@mail.example.com", apiUrl = "https://api.example.com", issuer = local.issuer, clientId = module.identity[0].client_ids.form
      })
      && local.company == { name = "Example Ltd", imprint = "https://example.com/legal", form = "https://contact.example.com/" }
      && [output.api_url, output.site.url, output.cors_origin] == ["https://api.example.com", "https://contact.example.com/", "https://contact.example.com"]
      && aws_apigatewayv2_api.this.disable_execute_api_endpoint && length(output.dns_records) == 0
      && local.site_connections == tolist(["https://cognito-idp.eu-central-1.amazonaws.com", local.sign_in_origin, "https://api.example.com"])
      && output.connect_origins == tolist(local.site_connections)
    )
    error_message = "config.json, the mails or the policies have other values."
  }
  # CKV_AWS_174, AVD-AWS-0013
  assert {
    condition = (
      toset(keys(aws_route53_record.validation)) == toset(["api.example.com", "contact.example.com"])
      && { for key, record in aws_route53_record.address : key => [record.alias[0].zone_id, record.zone_id] } == {
        "api.example.com A"        = ["MOCKAPIZONE", "MOCKZONE"]
        "contact.example.com A"    = ["MOCKSITEZONE", "MOCKZONE"]
        "contact.example.com AAAA" = ["MOCKSITEZONE", "MOCKZONE"]
      }
      && module.site[0].distribution.aliases == toset(["contact.example.com"])
      && module.site[0].distribution.viewer_certificate[0].minimum_protocol_version == "TLSv1.2_2021"
    )
    error_message = "A record is missing, or TLS is old."
  }
  assert {
    condition = (
      [aws_dynamodb_table.this.stream_enabled, aws_dynamodb_table.this.stream_view_type] == [true, "NEW_AND_OLD_IMAGES"]
      && [for kind in ["inquiries", "replies"] : module.mailer[0].mappings[kind].event_source_arn] == [aws_dynamodb_table.this.stream_arn, aws_dynamodb_table.this.stream_arn]
      && length(output.mail_dns_records) == 1 && output.dead_letter_queue_url != "none"
    )
    error_message = "The mailer does not read both images."
  }
  assert {
    condition = (
      aws_apigatewayv2_integration.probe["GET"].integration_uri == aws_lambda_alias.live.invoke_arn
      && [for answer in aws_apigatewayv2_integration.probe["GET"].response_parameters : [answer.status_code, answer.mappings["overwrite:statuscode"]]] == [["401", "200"]]
      && [aws_apigatewayv2_route.probe["GET"].route_key, one(aws_apigatewayv2_stage.this.route_settings).throttling_rate_limit] == ["GET /probe", 10]
      && endswith(aws_lambda_permission.probe["GET"].source_arn, "/*/GET/probe")
      && strcontains(aws_cloudwatch_log_metric_filter.this["access-Admitted"].pattern, "$.routeKey != \"GET /probe\"")
    )
    error_message = "The probe is not that of what is live, or unlimited."
  }
  # Threshold, periods of how many, and their seconds, where they are not "Greater 0 1 1 300".
  assert {
    condition = { for name, figures in {
      for name, alarm in merge(module.alarms.all, module.alarms_us_east_1.all) : name => join(" ", flatten([
        trimsuffix(alarm.comparison_operator, "ThanThreshold"), alarm.threshold, alarm.datapoints_to_alarm, alarm.evaluation_periods, distinct(flatten(alarm.metric_query[*].metric[*].period))
      ]))
      } : name => figures if figures != "Greater 0 1 1 300" } == {
      api-5xx-rate        = "Greater 1 2 3 300"
      api-throttles       = "Greater 50 2 3 300"
      api-unreachable     = "Less 1 2 3 60"
      certificate-api     = "Less 30 1 1 86400"
      certificate-site    = "Less 30 1 1 86400"
      form-unreachable    = "Less 1 2 3 60"
      function-duration   = "Greater 24000 1 1 300"
      function-memory     = "Greater 115.2 1 1 300"
      issuer-outage       = "Greater 95 2 3 300"
      issuer-unreachable  = "Less 1 2 3 60"
      mailer-delay        = "Greater 900000 1 1 300"
      mailer-failures     = "Greater 0 2 3 300"
      mailer-off          = "Greater 0 1 1 3600"
      mailer-volume       = "Greater 170 2 3 300"
      sign-in-unreachable = "Less 1 2 3 60"
    }
    error_message = "An alarm fires at another figure or time than docs/runbook.md says."
  }
  # CKV_AWS_319
  assert {
    condition = alltrue([for name, alarm in merge(module.alarms.all, module.alarms_us_east_1.all) :
      alarm.actions_enabled != false && alarm.ok_actions == alarm.alarm_actions && strcontains(file("../../docs/runbook.md"), "\n### `${name}`\n")
      && alarm.treat_missing_data == (endswith(name, "-unreachable") ? "breaching" : "notBreaching")
    ])
    error_message = "An alarm is off, silent about its end or without data, or not in docs/runbook.md."
  }
  assert {
    condition = {
      for name, alarm in merge(module.alarms.all, module.alarms_us_east_1.all) : name => join(" ", alarm.alarm_actions)
      if join(" ", alarm.alarm_actions) != join(" ", [for topic in ["mock", "pager"] : "arn:aws:sns:${contains(keys(module.alarms.all), name) ? "eu-central-1" : "us-east-1"}:111122223333:${topic}"])
      } == {
      for name in ["function-memory", "table-throttles", "mailer-bounces", "mailer-complaints", "mailer-refused", "mailer-volume"] : name => "arn:aws:sns:eu-central-1:111122223333:mock"
    }
    error_message = "An alarm reaches others than it should."
  }
  assert {
    condition = (
      [for subscription in concat(module.alarms.subscriptions, module.alarms_us_east_1.subscriptions) : [subscription.endpoint, subscription.protocol]] == [["main@example.com", "email"], ["main@example.com", "email"]]
      && module.alarms.topics != module.alarms_us_east_1.topics
    )
    error_message = "Alarms do not reach the stage's address."
  }
  # Ten refused requests in five minutes: a stage of ten a day is watched by issuer-unreachable.
  assert {
    condition     = [for query in module.alarms.all["issuer-outage"].metric_query : query.expression if query.return_data] == ["IF(refused >= 10, 100 * refused / (refused + admitted), 0)"]
    error_message = "An outage of the issuer is seen late."
  }
  assert {
    condition = length(setsubtract(
      flatten([for alarm in module.alarms.all : [for query in alarm.metric_query : values(try(query.metric[0].dimensions, {}))]]),
      concat(
        [aws_apigatewayv2_api.this.id, "by-state", "PutItem", "Query", "TransactWriteItems", "UpdateItem", aws_acm_certificate.api["api.example.com"].arn],
        ["inquiries-main", "inquiries-main-mailer", "inquiries-main-mailer-replies", "inquiries-main-mailer-dead-letters", "inquiries-main-mailer-digests"],
        values(module.mailer[0].mappings)[*].uuid,
      ),
    )) == 0
    error_message = "An alarm watches nothing."
  }
  assert {
    condition = {
      for name, filter in aws_cloudwatch_log_metric_filter.this : name => join(" ", compact([filter.log_group_name, filter.metric_transformation[0].name, filter.metric_transformation[0].default_value]))
      } == {
      access-Admitted  = "/aws/vendedlogs/apigateway/inquiries-main Admitted 0"
      access-NotJson   = "/aws/vendedlogs/apigateway/inquiries-main NotJson"
      access-Refused   = "/aws/vendedlogs/apigateway/inquiries-main Refused 0"
      access-Throttled = "/aws/vendedlogs/apigateway/inquiries-main Throttled 0"
      mailer-refused   = "/aws/lambda/inquiries-main-mailer MailsRefused"
      memory           = "/aws/lambda/inquiries-main MaxMemoryUsed"
      not-json         = "/aws/lambda/inquiries-main NotJson 0"
    }
    error_message = "A figure is not written, or has no zero."
  }
  assert {
    condition = (
      { for name, check in aws_route53_health_check.this : name => "${check.type} ${check.fqdn}:${check.port}${check.resource_path}" } == {
        form    = "HTTPS contact.example.com:443/"
        api     = "HTTPS api.example.com:443/probe"
        issuer  = "HTTPS cognito-idp.eu-central-1.amazonaws.com:443/eu-central-1_Mock/.well-known/openid-configuration"
        sign-in = "HTTPS ${trimprefix(local.sign_in_origin, "https://")}:443/login?client_id=${module.identity[0].client_ids.form}&response_type=code&scope=openid+email&redirect_uri=https%3A%2F%2Fcontact.example.com%2F"
      }
      && { for name, alarm in module.alarms_us_east_1.all : name => one(alarm.metric_query).metric[0].dimensions["HealthCheckId"] if name != "certificate-site" }
      == { for name, check in aws_route53_health_check.this : "${name}-unreachable" => check.id }
      && alltrue([for check in aws_route53_health_check.this : [check.failure_threshold, check.request_interval, check.regions] == [3, 30, toset(["eu-west-1", "us-east-1", "us-west-2"])]])
    )
    error_message = "A health check asks for something else."
  }
  assert {
    condition = [for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : try(
      length(widget.properties.metrics) > 0 ? "${length(widget.properties.metrics)} ${widget.properties.region}" : "",
      split("'", widget.properties.query)[1], widget.properties.markdown, widget.properties.alarms == concat(values(module.alarms.all)[*].arn, values(module.alarms_us_east_1.all)[*].arn),
      )] == [
      true,
      "## Is it up?", "3 eu-central-1", "3 eu-central-1", "6 eu-central-1",
      "## Can users get in?", "2 eu-central-1", "4 us-east-1",
      "## Is it fast?", "3 eu-central-1", "4 eu-central-1", "4 eu-central-1",
      "## Is mail sent?", "6 eu-central-1", "3 eu-central-1", "/aws/lambda/inquiries-main-mailer",
      "## Who is affected?", "/aws/vendedlogs/apigateway/inquiries-main", "/aws/lambda/inquiries-main", "/aws/vendedlogs/apigateway/inquiries-main",
    ] && jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets[2].properties.metrics[0] == ["AWS/ApiGateway", "Count", "ApiId", "mockapi", { stat = "Sum", label = "requests", yAxis = "left" }]
    error_message = "The dashboard lacks an alarm or a figure, or has a wrong region."
  }
}

run "every_other_setting" {
  variables {
    stages = {
      main = {
        cors_origin = "https://www.example.com"
        inbox       = { to = "team@example.org", from = "team@mail.example.com", identity = "example.com" }
        probe       = true
        alarm_email = "main@example.com"
        throttling  = { rate_limit = 11, burst_limit = 22 }

        log_retention_days   = 365
        pitr_days            = 7
        retention_days       = 365
        inquiries_per_hour   = 60
        reserved_concurrency = 7
        tracing              = false
        table_kms_key_arn    = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"

        deletion_protection_enabled = false
      }
    }
  }

  assert {
    condition = (
      [length(module.mailer[0].identities), length(output.mail_dns_records), one(module.identity[0].pool.email_configuration).source_arn] == [0, 0, data.aws_sesv2_email_identity.named["example.com"].arn]
    )
    error_message = "An existing identity is not used."
  }
  # Without deletion protection: the only way to destroy a protected stage (docs/runbook.md).
  assert {
    condition = alltrue([for table in [aws_dynamodb_table.this, aws_dynamodb_table.erasures] :
      [table.point_in_time_recovery[0].recovery_period_in_days, table.deletion_protection_enabled, table.server_side_encryption[0].enabled, table.server_side_encryption[0].kms_key_arn] == [7, false, true, var.stages.main.table_kms_key_arn]
    ])
    error_message = "The settings of the tables have no effect."
  }
  assert {
    condition = (
      aws_lambda_function.this.environment[0].variables == tomap({ TABLE_NAME = "inquiries-main", CORS_ORIGIN = "https://www.example.com", RETENTION_DAYS = "365", INQUIRIES_PER_HOUR = "60" })
      && [aws_lambda_function.this.reserved_concurrent_executions, aws_lambda_function.this.tracing_config[0].mode, local.shared.tracing] == [7, "PassThrough", false]
      && [aws_cloudwatch_log_group.function.retention_in_days, aws_cloudwatch_log_group.access.retention_in_days, local.shared.log_retention_days] == [365, 365, 365]
      && [aws_apigatewayv2_stage.this.default_route_settings[0].throttling_rate_limit, aws_apigatewayv2_stage.this.default_route_settings[0].throttling_burst_limit] == [11, 22]
    )
    error_message = "A setting has no effect."
  }
  assert {
    condition = { for statement in jsondecode(aws_iam_role_policy.function.policy).Statement : statement.Sid => [statement.Action, jsonencode(statement.Condition)] if !contains(["Inquiries", "Logs"], statement.Sid) } == {
      Rates               = ["dynamodb:UpdateItem", "{\"ForAllValues:StringLike\":{\"dynamodb:LeadingKeys\":\"$inquiries#owner_hour_*\"}}"]
      RatesInTransactions = ["dynamodb:UpdateItem", "{\"ForAnyValue:StringEquals\":{\"dynamodb:EnclosingOperation\":\"TransactWriteItems\"},\"ForAnyValue:StringLike\":{\"dynamodb:LeadingKeys\":\"$inquiries#owner_hour_*\"}}"]
    }
    error_message = "The function cannot count inquiries, or may do more."
  }
  assert {
    condition     = module.alarms_us_east_1.subscriptions[*].endpoint == ["main@example.com"] && keys(module.alarms_us_east_1.all) == ["api-unreachable", "issuer-unreachable"]
    error_message = "The probe's alarms reach nobody."
  }
}

# An apply would call the AWS CLI.
run "warm_throughput" {
  command = plan
  variables { stages = { main = { warm_throughput = 40000 } } }
  assert {
    condition = jsondecode(terraform_data.warm_throughput["40000"].triggers_replace) == {
      TableName                   = "inquiries-main", WarmThroughput = { WriteUnitsPerSecond = 40000 }
      GlobalSecondaryIndexUpdates = [{ Update = { IndexName = "by-state", WarmThroughput = { WriteUnitsPerSecond = 40000 } } }]
    }
    error_message = "warm_throughput is not that of table and index."
  }
}
