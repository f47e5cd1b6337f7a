# A stage with mail, alarms and a form: the mailer, alarms, metric filters and the dashboard;
# `npm run check:infra` runs this file in the workspace main. Ids in messages: see every_stage.tftest.hcl.

mock_provider "aws" { source = "./tests/mocks" }

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"

  mock_resource "aws_sns_topic" { defaults = { arn = "arn:aws:sns:us-east-1:111122223333:mock" } }
}

# Otherwise it stops the test from removing a protected stage, which consists of mocks.
override_resource {
  target = terraform_data.guard
  values = { output = { is_protected = false, message = "" } }
}

override_resource {
  target = module.mailer[0].aws_iam_role.this
  values = { arn = "arn:aws:iam::111122223333:role/mailer" }
}

override_resource {
  target = module.mailer[0].aws_cloudwatch_log_group.this
  values = { arn = "arn:aws:logs:eu-central-1:111122223333:log-group:mailer" }
}

override_resource {
  target = module.mailer[0].aws_sesv2_email_identity.this
  values = {
    arn                         = "arn:aws:ses:eu-central-1:111122223333:identity/mail.example.com"
    verified_for_sending_status = true
    dkim_signing_attributes     = { tokens = ["one", "two", "three"] }
  }
}

variables {
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  permissions_boundaries = { main = "arn:aws:iam::111122223333:policy/boundary" }

  stages = {
    main = {
      alarm_email = "main@example.com"
      sign_up     = false
      totp        = true
      probe       = true

      alarm_topic_arns = ["arn:aws:sns:eu-central-1:111122223333:pager", "arn:aws:sns:us-east-1:111122223333:pager"]

      inbox = { to = "team@example.org", from = "main@mail.example.com", mails_per_hour = 25, language = "de", answer_within = 3, parallelization_factor = 4, acknowledge = true }
      form = {
        name        = "Example Ltd"
        logo        = "favicon.svg"
        accent      = "#0b7a75"
        imprint     = "https://example.com/legal"
        expectation = { en = "Soon.", ar = "قريبا." }
        topics      = [{ en = "Orders" }, { en = "Returns", de = "Rückgabe" }]
        languages   = ["en", "ar"]
      }
    }
  }
}

run "mail_alarms_and_form" {
  assert {
    condition = (
      module.mailer[0].functions["inquiries"].environment[0].variables == tomap({
        TABLE_NAME           = "inquiries-main"
        INBOX_TO             = "team@example.org"
        INBOX_FROM           = "main@mail.example.com"
        STAGE                = "main"
        MAIL_LANGUAGE        = "de"
        CONFIGURATION_SET    = "inquiries-main"
        MAILS_PER_HOUR       = "25"
        TOTAL_MAILS_PER_HOUR = "100"
        ANSWER_WITHIN        = "3"
        ACKNOWLEDGE          = "true"
        TIME_ZONE            = "UTC"
        COMPANY              = jsonencode({ name = "Example Ltd", accent = "#0b7a75", form = output.site.url, imprint = "https://example.com/legal", expectation = { en = "Soon.", ar = "قريبا." } })
      })
      && module.mailer[0].functions["inquiries"].source_code_hash == filebase64sha256("stages.tf")
      && { for kind, mapping in module.mailer[0].mappings : kind => [mapping.event_source_arn, mapping.parallelization_factor] } == {
        inquiries = [aws_dynamodb_table.this.stream_arn, 4], replies = [aws_dynamodb_table.this.stream_arn, 1]
      }
      && aws_dynamodb_table.this.stream_enabled && aws_dynamodb_table.this.stream_view_type == "NEW_AND_OLD_IMAGES"
    )
    error_message = "CKV_AWS_45: the mailer does not have its settings, or has others, or does not read both images of the stream."
  }
  assert {
    condition = (
      length(output.mail_dns_records) == 3 && output.dead_letter_queue_url != null
      && alltrue([
        for alarm in ["mailer-bounces", "mailer-complaints", "mailer-volume"] :
        module.alarms.all[alarm].dimensions == tomap({ "ses:configuration-set" = "inquiries-main" })
      ])
      && one([for query in module.alarms.all["mailer-errors"].metric_query : query.metric[0].dimensions["RuleName"] if query.id == "untimed"]) == "inquiries-main-mailer-digests"
      && module.alarms.all["mailer-dead-letters"].dimensions == tomap({ QueueName = "inquiries-main-mailer-dead-letters" })
    )
    error_message = "Nobody hears of bounces, complaints, the number of mails, a timer that fails or mails that were given up, or the records of the domain are not an output."
  }
  assert {
    condition = { for key, value in output.form_config : key => value if !contains(["issuer", "clientId", "apiUrl"], key) } == merge(
      { for key, value in var.stages.main.form : key => value if value != null }, { answersFrom = "main@mail.example.com" }
    )
    error_message = "config.json would not have exactly what is set, with the address that answers come from."
  }
  assert {
    condition = (
      module.mailer[0].functions["inquiries"].role == module.mailer[0].role.arn
      && aws_lambda_function.this.role == aws_iam_role.function.arn
      && module.mailer[0].role.assume_role_policy == aws_iam_role.function.assume_role_policy
      && alltrue([for role in [aws_iam_role.function, module.mailer[0].role] : role.permissions_boundary == "arn:aws:iam::111122223333:policy/boundary"])
    )
    error_message = "CKV_AWS_60, CKV_AWS_61: the functions do not have a role each, others than Lambda can assume the mailer's, or one is not bounded."
  }
  assert {
    condition = (
      one(module.identity[0].pool.email_configuration).email_sending_account == "DEVELOPER"
      && one(module.identity[0].pool.email_configuration).from_email_address == "main@mail.example.com"
      && one(module.identity[0].pool.email_configuration).source_arn == one(module.mailer[0].identities).arn
      && one(module.identity[0].pool.email_configuration).configuration_set == "inquiries-main"
    )
    error_message = "The user pool does not mail through the verified identity of the stage, or its bounces are not seen."
  }
  assert {
    condition = (
      module.identity[0].pool.admin_create_user_config[0].allow_admin_create_user_only
      && module.identity[0].pool.deletion_protection == "ACTIVE"
      && module.identity[0].pool.mfa_configuration == "OPTIONAL" && one(module.identity[0].pool.software_token_mfa_configuration).enabled
    )
    error_message = "sign_up = false does not close the registration, totp = true does not allow a second factor, or the pool of main can be deleted."
  }
  assert {
    condition = (
      aws_apigatewayv2_integration.probe["GET"].integration_uri == aws_lambda_alias.live.invoke_arn
      && aws_apigatewayv2_route.probe["GET"].route_key == "GET /probe" && aws_apigatewayv2_route.probe["GET"].authorization_type != "JWT"
      && one(aws_apigatewayv2_integration.probe["GET"].response_parameters).mappings == tomap({ "overwrite:statuscode" = "200" })
      && one(aws_apigatewayv2_integration.probe["GET"].response_parameters).status_code == "401"
      && endswith(aws_lambda_permission.probe["GET"].source_arn, "/*/GET/probe")
      && one(aws_apigatewayv2_stage.this.route_settings).throttling_rate_limit == 10
      && strcontains(aws_cloudwatch_log_metric_filter.this["access-Admitted"].pattern, "$.routeKey != \"GET /probe\"")
    )
    error_message = "The probe does not reach the function that is live, anyone may call it more often than Route 53, or it hides an outage of the issuer."
  }
  assert {
    condition = {
      for name, alarm in module.alarms.all : name => alarm.threshold if alarm.threshold > 0
      } == {
      api-5xx-rate      = 1
      api-throttles     = 50
      function-duration = 24000
      function-memory   = 115.2
      issuer-outage     = 95
      mailer-delay      = 900000
      mailer-volume     = 170
    }
    error_message = "An alarm fires at another figure than docs/runbook.md says."
  }
  assert {
    condition = {
      for name, alarm in module.alarms.all : name => [alarm.datapoints_to_alarm, alarm.evaluation_periods] if alarm.evaluation_periods > 1
      } == {
      for name in ["api-5xx-rate", "api-throttles", "issuer-outage", "mailer-failures", "mailer-volume"] : name => [2, 3]
    }
    error_message = "Other alarms than these wait for two of three periods."
  }
  assert {
    condition = length(setsubtract(
      concat(keys(module.alarms.all), keys(module.alarms_us_east_1.all), ["certificate-api", "certificate-site"]),
      flatten(regexall("(?m)^### `([a-z0-9-]+)`$", file("../../docs/runbook.md"))),
    )) == 0
    error_message = "docs/runbook.md does not explain every alarm, under its own name."
  }
  # Ten refused requests in five minutes: a stage of ten a day is watched by issuer-unreachable.
  assert {
    condition     = one([for query in module.alarms.all["issuer-outage"].metric_query : query.expression if query.return_data]) == "IF(refused >= 10, 100 * refused / (refused + admitted), 0)"
    error_message = "An outage of the issuer is seen later than after ten requests."
  }
  assert {
    condition = alltrue([
      for alarm in module.alarms_us_east_1.all :
      [alarm.period, alarm.evaluation_periods, alarm.datapoints_to_alarm, alarm.threshold] == [60, 3, 2, 1]
      && alarm.comparison_operator == "LessThanThreshold" && alarm.statistic == "Minimum"
    ])
    error_message = "What cannot be reached from outside is not seen within three minutes."
  }
  assert {
    condition = toset([for name, alarm in module.alarms.all : name if !contains(alarm.alarm_actions, "arn:aws:sns:eu-central-1:111122223333:pager")]) == toset([
      "function-memory", "table-throttles", "mailer-bounces", "mailer-complaints", "mailer-refused", "mailer-volume",
    ])
    error_message = "What a stranger or one user can raise pages somebody, or something else does not."
  }
  assert {
    condition = (
      [for kind in ["inquiries", "replies"] : one([for query in module.alarms.all["mailer-off"].metric_query : query.metric[0].dimensions["EventSourceMappingUUID"] if query.id == kind])]
      == [for kind in ["inquiries", "replies"] : module.mailer[0].mappings[kind].uuid]
      && alltrue([for name in ["mailer-failures", "mailer-delay"] : toset([
        for query in module.alarms.all[name].metric_query : query.metric[0].dimensions["FunctionName"] if !query.return_data
      ]) == toset(["inquiries-main-mailer", "inquiries-main-mailer-replies"])])
    )
    error_message = "Nobody hears of a mapping that is off, or of failures of one of the mailers."
  }
  assert {
    condition = (
      alltrue([for alarm in module.alarms.all : alarm.treat_missing_data == "notBreaching"])
      && alltrue([for alarm in module.alarms_us_east_1.all : alarm.treat_missing_data == "breaching"])
    )
    error_message = "A stage without requests is in alarm, or a form or an API that nobody checks is not."
  }
  assert {
    condition = alltrue(flatten([
      for alarm in module.alarms.all : [
        for query in alarm.metric_query : toset(regexall("[a-z_]+", query.expression)) == toset([for other in alarm.metric_query : other.id if !other.return_data])
        if query.return_data
      ]
    ]))
    error_message = "An alarm's expression has a figure that is not queried, or not one that is."
  }
  assert {
    condition = length(setsubtract(
      flatten([for alarm in module.alarms.all : concat(
        alarm.namespace == "inquiries/main" ? [alarm.metric_name] : [],
        [for query in alarm.metric_query : query.metric[0].metric_name if !query.return_data && try(query.metric[0].namespace == "inquiries/main", false)],
      )]),
      [for filter in aws_cloudwatch_log_metric_filter.this : filter.metric_transformation[0].name]
    )) == 0
    error_message = "An alarm watches a figure that no metric filter writes."
  }
  assert {
    condition = alltrue([
      for alarm in concat(values(module.alarms.all), values(module.alarms_us_east_1.all)) :
      strcontains(alarm.alarm_description, "Look at ") && alarm.actions_enabled && alarm.ok_actions == alarm.alarm_actions
      && contains(alarm.alarm_actions, "arn:aws:sns:${alarm.namespace == "AWS/Route53" ? "us-east-1" : "eu-central-1"}:111122223333:mock")
    ])
    error_message = "CKV_AWS_319: an alarm is disabled, does not say what to look at, or it or its end is not sent to the topic of its region."
  }
  assert {
    condition = (
      [for subscription in concat(module.alarms.subscriptions, module.alarms_us_east_1.subscriptions) : [subscription.endpoint, subscription.protocol]]
      == [["main@example.com", "email"], ["main@example.com", "email"]]
      && one(module.alarms.topics).name != one(module.alarms_us_east_1.topics).name
    )
    error_message = "Alarms do not reach the stage's address, or the topics of a stage in us-east-1 are one."
  }
  assert {
    condition = alltrue([
      for name in ["access-Admitted", "access-Refused", "access-Throttled", "not-json"] :
      aws_cloudwatch_log_metric_filter.this[name].metric_transformation[0].default_value == "0"
    ])
    error_message = "A figure that a ratio is made of has no value when nothing is counted."
  }
  assert {
    condition = (
      { for name, check in aws_route53_health_check.this : name => "${check.fqdn}${check.resource_path}" } == {
        form    = "mock.cloudfront.net/"
        api     = "mockapi.execute-api.eu-central-1.amazonaws.com/probe"
        issuer  = "cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Mock/.well-known/openid-configuration"
        sign-in = "${trimprefix(local.sign_in_origin, "https://")}/login?client_id=${module.identity[0].client_ids.form}&response_type=code&scope=openid+email&redirect_uri=https%3A%2F%2Fmock.cloudfront.net%2F"
      }
      && { for name, alarm in module.alarms_us_east_1.all : name => alarm.dimensions["HealthCheckId"] } == {
        for name, check in aws_route53_health_check.this : "${name}-unreachable" => check.id
      }
      && alltrue([for check in aws_route53_health_check.this : check.failure_threshold == 3 && check.request_interval == 30
      && check.type == "HTTPS" && check.port == 443 && check.regions == toset(["eu-west-1", "us-east-1", "us-west-2"])])
    )
    error_message = "A health check does not ask for the form, the probe, the issuer or the sign-in page, from three regions every 30 seconds, or an alarm watches another one."
  }
  assert {
    condition = (
      [for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget.properties.markdown if widget.type == "text"]
      == ["## Is it up?", "## Can users get in?", "## Is it fast?", "## Is mail sent?", "## Who is affected?"]
      && one([for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets : widget.properties.alarms if widget.type == "alarm"])
      == concat(values(module.alarms.all)[*].arn, values(module.alarms_us_east_1.all)[*].arn)
    )
    error_message = "The dashboard does not have its headings in order, or does not show every alarm."
  }
  assert {
    condition = alltrue([
      for widget in jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets :
      widget.properties.region == (startswith(widget.properties.title, "Reachable") ? "us-east-1" : "eu-central-1") if contains(["metric", "log"], widget.type)
    ])
    error_message = "A widget has another region than its figures."
  }
}

run "every_other_setting" {
  variables {
    stages = {
      main = {
        cors_origin = "https://www.example.com"
        inbox       = { to = "team@example.org", from = "team@mail.example.com", identity = "example.com" }

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

  override_data {
    target = data.aws_sesv2_email_identity.named
    values = { arn = "arn:aws:ses:eu-central-1:111122223333:identity/example.com", verified_for_sending_status = true }
  }

  assert {
    condition = (
      length(module.mailer[0].identities) == 0 && length(output.mail_dns_records) == 0
      && one(module.identity[0].pool.email_configuration).source_arn == "arn:aws:ses:eu-central-1:111122223333:identity/example.com"
    )
    error_message = "An identity that exists would be created again, or the user pool does not mail through it."
  }
  assert {
    condition     = [for name in ["MAILS_PER_HOUR", "MAIL_LANGUAGE", "ANSWER_WITHIN"] : lookup(module.mailer[0].functions["inquiries"].environment[0].variables, name, "")] == ["10", "en", ""]
    error_message = "The defaults are not 10 mails an hour, in English, without a daily mail."
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
      TABLE_NAME         = "inquiries-main"
      CORS_ORIGIN        = "https://www.example.com"
      RETENTION_DAYS     = "365"
      INQUIRIES_PER_HOUR = "60"
    })
    error_message = "The function does not get retention_days or inquiries_per_hour."
  }
  assert {
    condition = jsonencode([for statement in jsondecode(aws_iam_role_policy.function.policy).Statement : statement if statement.Sid == "Rates"]) == jsonencode([{
      Sid       = "Rates", Effect = "Allow", Action = "dynamodb:UpdateItem", Resource = aws_dynamodb_table.this.arn
      Condition = { "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = "$inquiries#owner_hour_*" } }
    }])
    error_message = "The function cannot count inquiries, or may update other rows."
  }
  # Without deletion protection: the only way to destroy a protected stage (docs/runbook.md).
  assert {
    condition = (
      aws_lambda_function.this.reserved_concurrent_executions == 7
      && aws_cloudwatch_log_group.function.retention_in_days == 365
      && aws_cloudwatch_log_group.access.retention_in_days == 365
      && !aws_dynamodb_table.this.deletion_protection_enabled
    )
    error_message = "The stage has another share of the account's instances than is set, logs cannot be kept for a year, or deletion protection cannot be switched off."
  }
  assert {
    condition = (
      alltrue([for function in [aws_lambda_function.this, module.mailer[0].functions["inquiries"]] : function.tracing_config[0].mode == "PassThrough"])
      && !strcontains(aws_iam_role_policy.function.policy, "xray")
    )
    error_message = "tracing = false does not end the traces, or leaves the permission."
  }
}

run "probe_without_form" {
  state_key = "probe"

  variables {
    stages = {
      main = {
        alarm_email = "main@example.com", probe = true, site = false, cors_origin = "https://www.example.com"
        inbox       = { to = "team@example.org", from = "main@mail.example.com" }
        domain      = { name = "api.example.com", certificate_arn = "arn:aws:acm:eu-central-1:111122223333:certificate/own", dns = "all" }
      }
    }
  }

  assert {
    condition     = module.alarms_us_east_1.subscriptions[*].endpoint == ["main@example.com"] && toset(keys(module.alarms_us_east_1.all)) == toset(["api-unreachable", "issuer-unreachable"])
    error_message = "Nobody gets the alarms of the probe, or the issuer is not watched."
  }
  assert {
    condition = (
      module.alarms.all["certificate-api"].dimensions == tomap({ CertificateArn = "arn:aws:acm:eu-central-1:111122223333:certificate/own" })
      && [module.alarms.all["certificate-api"].threshold, module.alarms.all["certificate-api"].period] == [30, 86400]
    )
    error_message = "Nobody hears that a certificate is not renewed."
  }
}

# An apply would call the AWS CLI.
run "warm_throughput" {
  command = plan
  variables { stages = { main = { warm_throughput = 40000 } } }
  assert {
    condition = terraform_data.warm_throughput["40000"].triggers_replace == jsonencode({
      TableName                   = "inquiries-main", WarmThroughput = { WriteUnitsPerSecond = 40000 }
      GlobalSecondaryIndexUpdates = [{ Update = { IndexName = "by-state", WarmThroughput = { WriteUnitsPerSecond = 40000 } } }]
    })
    error_message = "warm_throughput is not that of table and index."
  }
}

run "pool_of_an_identity_that_is_not_verified_yet" {
  override_resource {
    target = module.mailer[0].aws_sesv2_email_identity.this
    values = { verified_for_sending_status = false, dkim_signing_attributes = { tokens = [] } }
  }

  assert {
    condition     = length(module.identity[0].pool.email_configuration) == 0
    error_message = "Cognito would refuse the identity, and with it the first deployment."
  }
}

run "pool_that_cognito_mails_for" {
  variables {
    stages = { main = { inbox = { to = "team@example.org", from = "team@mail.example.com", identity = "example.com", pool_mail = false } } }
  }

  assert {
    condition     = length(module.identity[0].pool.email_configuration) == 0 && length(data.aws_sesv2_email_identity.named) == 0
    error_message = "pool_mail = false does not leave the mails to Cognito."
  }
}
