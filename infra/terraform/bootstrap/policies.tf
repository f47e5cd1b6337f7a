# Policies of the roles that GitHub assumes, and of operators. Only locals, so that tests evaluate them without an
# account. `boundary` limits the roles `deploy` and `plan` and every role that `deploy` creates; `read` is attached to
# both, `deploy` to its role. docs/roles.md

locals {
  service = jsondecode(file("${path.module}/../service.json"))
  stages  = toset(keys(local.service.stages))

  # Keeps these roles and policies out of the patterns of a stage's names.
  path = "/terraform-bootstrap/"

  state_key        = "inquiries/terraform.tfstate"
  state_bucket_arn = "arn:${local.partition}:s3:::${var.bucket}"

  received = var.receives_mail ? ["mails"] : []

  iam = "arn:${local.partition}:iam::${local.account}"
  arn = {
    for service in ["cognito-idp", "dynamodb", "events", "lambda", "logs", "ses", "sqs", "ssm"] :
    service => "arn:${local.partition}:${service}:${local.region}:${local.account}"
  }

  own = {
    for stage, name in { for stage in local.stages : stage => "${var.name}-${stage}" } : stage => {
      name      = name
      boundary  = "${local.iam}:policy${local.path}${name}-boundary-${local.region}"
      domains   = lookup(var.domains, stage, [])
      functions = formatlist("${local.arn.lambda}:function:${name}%s", ["", ":*", "-*"])
      roles     = "${local.iam}:role/${name}-*"
      buckets   = formatlist("arn:${local.partition}:s3:::${name}-%s-${local.account}", concat(["site"], local.received))
      state     = "${local.state_bucket_arn}/env:/${stage}/${local.state_key}"
      table     = "${local.arn.dynamodb}:table/${name}"
      tagged    = { StringEquals = { "aws:ResourceTag/service" = var.name, "aws:ResourceTag/stage" = stage } }

      # Routes and integrations have no tags: a stage's roles may change the APIs that exist now.
      gateway = formatlist("arn:${local.partition}:apigateway:${local.region}::%s", concat(
        ["/apis"], length(lookup(var.domains, stage, [])) == 0 ? [] : ["/domainnames"],
        flatten([for id in try(data.aws_apigatewayv2_apis.stage[stage].ids, []) : ["/apis/${id}*", "/tags/*${id}*"]]),
        [for name in lookup(var.domains, stage, []) : "/domainnames/${name}*"],
      ))
    }
  }

  # ARNs with names: NAME-STAGE or NAME-STAGE-… (variables.tf: name).
  named = {
    for stage, own in local.own : stage => concat(
      own.functions, [own.roles],
      formatlist("${own.table}%s", ["", "/*", "-*"]),
      formatlist("${local.arn.logs}:log-group:/aws/*/${own.name}%s", ["", ":*", "-*"]),
      flatten([for region in distinct([local.region, "us-east-1"]) : formatlist(
        "arn:${local.partition}:%s${own.name}-*",
        ["cloudwatch:${region}:${local.account}:alarm:", "sns:${region}:${local.account}:"],
      )]),
      [
        "arn:${local.partition}:cloudwatch::${local.account}:dashboard/${own.name}",
        "${local.arn.events}:rule/${own.name}-*",
        "${local.arn.sqs}:${own.name}-*",
        "${local.arn.ses}:configuration-set/${own.name}*",
      ],
    )
  }

  # In the boundary and in `deploy`. No role creates or tags what is allowed by tag or id, since it could make it its
  # own.
  shared = {
    for stage, own in local.own : stage => {
      # The lock is beside the state. No role deletes either.
      WriteState = { Action = "s3:PutObject", Resource = "${own.state}*" }
      Unlock     = { Action = "s3:DeleteObject", Resource = "${own.state}.tflock" }
      Streams = {
        Action    = "lambda:*EventSourceMapping"
        Resource  = "*"
        Condition = { ArnLike = { "lambda:FunctionArn" = "${own.functions[0]}-*" } }
      }
      # Log deliveries have no narrower permission, headers policies neither names nor tags.
      WriteUnnamed = {
        Action   = ["cloudfront:UpdateResponseHeadersPolicy", "logs:*LogDelivery", "logs:PutResourcePolicy"]
        Resource = "*"
      }
      HealthChecks = {
        Action = "route53:*HealthCheck"
        Resource = try(sort(
          data.aws_resourcegroupstaggingapi_resources.health_checks[stage].resource_tag_mapping_list[*].resource_arn
        ), [])
      }
      # Cognito creates it for the account's first pool that mails through SES.
      MailOfPools = {
        Action    = "iam:CreateServiceLinkedRole"
        Resource  = "*"
        Condition = { StringEquals = { "iam:AWSServiceName" = "email.cognito-idp.amazonaws.com" } }
      }
      Records = {
        Action   = "route53:ChangeResourceRecordSets"
        Resource = length(own.domains) == 0 ? [] : ["arn:${local.partition}:route53:::hostedzone/*"]
        Condition = {
          "ForAllValues:StringLike" = {
            "route53:ChangeResourceRecordSetsNormalizedRecordNames" = flatten([
              for name in own.domains : [name, "*.${name}"]
            ])
          }
        }
      }
    }
  }

  for_people = "-(inbox|inbox-answer|on-call)$"

  # For operators; one of the two is attached by hand, and the smaller cannot delete. No role that deploys can change
  # them. Neither reaches a restored table.
  answer = {
    for stage, own in local.own : stage => {
      Read = {
        Action   = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
        Resource = formatlist("${own.table}%s", ["", "/index/by-state"])
      }
      # The keys are in the condition, which IAM does not distinguish from what an update sets; DynamoDB refuses a
      # change of the keys.
      Answer = {
        Action   = "dynamodb:UpdateItem"
        Resource = own.table
        Condition = {
          "ForAllValues:StringEquals" = {
            "dynamodb:Attributes" = ["pk", "sk", "reply", "respondent", "reply_at", "inbox"]
          }
          "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = "$inquiries#cognito_sub_*" }
        }
      }
      FindMailer = { Action = "lambda:GetFunctionConcurrency", Resource = "${own.functions[0]}-mailer" }
    }
  }

  statements = { for stage, own in local.own : stage => {
    boundary = merge(local.shared[stage], {
      Named = {
        Action = formatlist("%s:*", [
          "cloudwatch", "dynamodb", "events", "iam", "lambda", "logs", "s3", "ses", "sns", "sqs",
        ])
        Resource = concat(local.named[stage], ["arn:${local.partition}:s3:::${own.name}-*-${local.account}*"])
      }
      State = {
        Action   = ["s3:GetObject", "s3:ListBucket"]
        Resource = [local.state_bucket_arn, "${local.state_bucket_arn}/${local.state_key}", "${own.state}*"]
      }
      Gateway = { Action = "apigateway:*", Resource = own.gateway }
      # `*UserPool*` matches no action on users, such as the smoke test's.
      Tagged = {
        Action = [
          "acm:*",
          "cloudfront:*",
          "cognito-idp:*Branding*", "cognito-idp:*UserPool*", "cognito-idp:AdminCreateUser",
          "cognito-idp:AdminGetUser", "cognito-idp:AdminInit*", "cognito-idp:AdminResp*", "cognito-idp:Get*", "cognito-idp:ListTags*",
          "cognito-idp:SetUI*",
          "ses:*",
        ]
        Resource  = "*"
        Condition = own.tagged
      }
      # An identity may be another stage's, or tagged by hand.
      Mail = {
        Action    = "ses:SendEmail"
        Resource  = "*"
        Condition = { StringEquals = { "aws:ResourceTag/service" = var.name } }
      }
      Keys = {
        Action    = "kms:*"
        Resource  = "*"
        Condition = { StringEquals = { "kms:ViaService" = "dynamodb.${local.region}.amazonaws.com" } }
      }
      Unnamed = {
        Action = [
          "cloudfront:Get*", "cloudfront:List*",
          "cloudwatch:Describe*",
          "cognito-idp:DescribeUserPoolD*",
          "lambda:GetEvent*", "lambda:List*", "lambda:TagResource",
          "logs:Describe*", "logs:GetD*", "logs:List*", "logs:Test*",
          "route53:Get*", "route53:List*",
          "ses:Get*", "ses:List*",
          "sns:GetSub*",
          "xray:Put*",
        ]
        Resource = "*"
      }
      BoundedRoles = {
        Effect    = "Deny"
        Action    = ["iam:AttachRolePolicy", "iam:CreateRole", "iam:PutRoleP*"]
        Resource  = "*"
        Condition = { StringNotEquals = { "iam:PermissionsBoundary" = own.boundary } }
      }
      Invoke = {
        Effect    = "Deny"
        Action    = "lambda:AddPermission"
        Resource  = "*"
        Condition = { StringNotLike = { "lambda:Principal" = "*.amazonaws.com" } }
      }
      # The first actions open rows, logs, a function or an address to others, or copy rows beyond an erasure. UpdateTable
      # switches off deletion protection, UpdateContinuousBackups the backups, and UpdateTimeToLive deletes rows.
      Never = {
        Effect = "Deny"
        Action = concat([
          "dynamodb:*Backup", "dynamodb:*Kinesis*", "dynamodb:*ResourceP*", "dynamodb:Exp*", "dynamodb:Res*",
          "lambda:*ResourceP*", "lambda:*Url*",
          "logs:CreateE*", "logs:PutS*",
          "ses:*IdentityP*",
          "iam:DeleteRolePermissionsBoundary",
          ], stage == "develop" ? [] : [
          "cognito-idp:DeleteUserPool", "dynamodb:DeleteTable", "dynamodb:UpdateC*", "dynamodb:UpdateT*",
        ])
        Resource = "*"
      }
    })

    # `terraform init` reads the state of the workspace `default`, which never exists.
    read = {
      StateBucket = { Action = "s3:ListBucket", Resource = local.state_bucket_arn }
      State       = { Action = "s3:GetObject", Resource = ["${own.state}*", "${local.state_bucket_arn}/${local.state_key}"] }
      ReadNamed = {
        Action = [
          "cloudwatch:GetDashboard", "cloudwatch:ListTagsForResource",
          "dynamodb:Describe*", "dynamodb:ListTagsOfResource",
          "events:DescribeRule", "events:List*",
          "iam:Get*", "iam:List*",
          "lambda:Get*", "lambda:List*",
          "logs:DescribeMetricFilters", "logs:ListTags*",
          "ses:GetConfigurationSet*", "ses:ListTagsForResource",
          "sns:GetTopicAttributes", "sns:List*",
          "sqs:GetQueue*", "sqs:ListQueueTags",
        ]
        Resource = local.named[stage]
      }
      ReadSite = {
        Action   = ["s3:Get*", "s3:ListBucket", "s3:ListTagsForResource"]
        Resource = concat(own.buckets, ["${own.buckets[0]}/*"])
      }
      ReadReceipt = { Action = "ses:DescribeReceiptRule", Resource = [for use in local.received : "*"] }
      ReadGateway = { Action = "apigateway:GET", Resource = own.gateway }
      ReadUnnamed = {
        Action = [
          "cloudfront:Get*", "cloudfront:List*",
          "cloudwatch:DescribeAlarms",
          "cognito-idp:DescribeUserPoolDomain",
          "lambda:GetEventSourceMapping", "lambda:ListEventSourceMappings", "lambda:ListTags",
          "logs:DescribeLogGroups", "logs:DescribeResourcePolicies", "logs:GetDelivery*", "logs:GetLogDelivery",
          "logs:ListLogDeliveries", "logs:ListTagsForResource", "logs:TestMetricFilter",
          "route53:Get*", "route53:List*",
          "ses:GetAccount", "ses:GetEmailIdentity", "ses:ListTagsForResource",
          "sns:GetSubscriptionAttributes",
        ]
        Resource = "*"
      }
      ReadTagged = {
        Action = [
          "acm:DescribeCertificate", "acm:GetCertificate", "acm:ListTagsForCertificate",
          "cognito-idp:AdminGetUser",
          "cognito-idp:Describe*", "cognito-idp:GetLogDeliveryConfiguration", "cognito-idp:GetUICustomization",
          "cognito-idp:GetUserPoolMfaConfig", "cognito-idp:ListTagsForResource", "cognito-idp:ListUserPoolClients",
        ]
        Resource  = "*"
        Condition = own.tagged
      }
    }

    # It must not read rows or send mail, but the code that it deploys does both.
    deploy = merge(local.shared[stage], {
      # A published version is checked before users get it; `live` would take invented claims and records.
      Versions = {
        Effect      = "Deny"
        Action      = "lambda:InvokeFunction"
        NotResource = [for digit in range(1, 10) : "arn:${local.partition}:lambda:*:*:function:*:${digit}*"]
      }
      # What SES tells of mails goes to the stage's own queues.
      Subscribers = {
        Effect    = "Deny"
        Action    = "sns:Subscribe"
        Resource  = "arn:${local.partition}:sns:*:*:${own.name}-*-events"
        Condition = { StringNotLike = { "sns:Endpoint" = "${local.arn.sqs}:${own.name}-*" } }
      }
      WriteSite = { Action = "s3:*", Resource = concat(own.buckets, ["${own.buckets[0]}/*"]) }
      WriteNamed = {
        Action = [
          "cloudwatch:*",
          "dynamodb:*Table", "dynamodb:TagResource", "dynamodb:UntagResource", "dynamodb:UpdateContinuousBackups",
          "dynamodb:UpdateTimeToLive",
          "events:*",
          "iam:CreateRole", "iam:DeleteRole", "iam:DeleteRolePolicy", "iam:PutRolePermissionsBoundary",
          "iam:PutRolePolicy", "iam:TagRole", "iam:UntagRole", "iam:UpdateAssumeRolePolicy", "iam:UpdateRole*",
          "lambda:*",
          "logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:*MetricFilter", "logs:*RetentionPolicy",
          "logs:TagResource", "logs:UntagResource",
          "ses:*ConfigurationSet*", "ses:TagResource", "ses:UntagResource",
          "sns:CreateTopic", "sns:DeleteTopic", "sns:Set*", "sns:Subscribe", "sns:TagResource", "sns:Unsubscribe",
          "sns:UntagResource",
          "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes", "sqs:TagQueue", "sqs:UntagQueue",
        ]
        Resource = local.named[stage]
      }
      PassRole = {
        Action    = "iam:PassRole"
        Resource  = own.roles
        Condition = { StringEquals = { "iam:PassedToService" = "lambda.amazonaws.com" } }
      }
      WriteGateway = { Action = "apigateway:*", Resource = own.gateway }
      WriteTagged = {
        Action = [
          "acm:DeleteCertificate", "acm:UpdateCertificateOptions",
          "cloudfront:CreateInvalidation", "cloudfront:DeleteDistribution", "cloudfront:UpdateDistribution",
          "cognito-idp:*ManagedLoginBranding*", "cognito-idp:*UserPool*", "cognito-idp:SetUICustomization",
          "cognito-idp:AdminCreateUser", "cognito-idp:AdminInitiateAuth", "cognito-idp:AdminRespondToAuthChallenge",
          "ses:DeleteEmailIdentity", "ses:PutEmailIdentity*",
        ]
        Resource  = "*"
        Condition = own.tagged
      }
      # A new mapping is tagged; these tags allow nothing.
      TagStreams = {
        Action    = "lambda:TagResource"
        Resource  = "${local.arn.lambda}:event-source-mapping:*"
        Condition = { StringEquals = { "aws:RequestTag/service" = var.name, "aws:RequestTag/stage" = stage } }
      }
    })

    inbox-answer = local.answer[stage]

    # `npm run ops`: logs, which name no person, and mails that are due.
    on-call = {
      QueryLogs = {
        Action   = "logs:StartQuery"
        Resource = formatlist("${local.arn.logs}:log-group:/aws/%s:*", ["lambda/${own.name}", "lambda/${own.name}-*", "vendedlogs/apigateway/${own.name}"])
      }
      # Of a query's id, of all alarms, and of mappings, which have no names.
      ReadUnnamed = {
        Action   = ["cloudwatch:DescribeAlarms", "lambda:ListEventSourceMappings", "logs:GetQueryResults"]
        Resource = "*"
      }
      DeadLetters = {
        Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"]
        Resource = "${local.arn.sqs}:${own.name}-mailer-dead-letters"
      }
      Repeat = {
        Action   = ["sqs:GetQueueUrl", "sqs:SendMessage"]
        Resource = formatlist("${local.arn.sqs}:${own.name}-%s-events", ["mailer", "receiver"])
      }
      SwitchMappings = {
        Action    = "lambda:UpdateEventSourceMapping"
        Resource  = "*"
        Condition = { ArnLike = { "lambda:FunctionArn" = "${own.functions[0]}-*" } }
      }
      SendAgain = { Action = "lambda:InvokeFunction", Resource = "${own.functions[0]}-mailer:live" }
    }

    inbox = merge(local.answer[stage], {
      ReadAll = { Action = "dynamodb:Scan", Resource = own.table }
      # BatchWriteItem also puts: no item may have more than its keys.
      Erase = {
        Action    = "dynamodb:BatchWriteItem"
        Resource  = own.table
        Condition = { "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk"] } }
      }
      # A record is its key, so a put changes none. Records of another form have no #.
      RecordErasure = {
        Action   = "dynamodb:PutItem"
        Resource = "${own.table}-erasures"
        Condition = {
          "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["hash"] }
          "ForAllValues:StringLike"   = { "dynamodb:LeadingKeys" = "*#*" }
        }
      }
      ReadErasures = {
        Action   = ["dynamodb:DescribeTable", "dynamodb:ListTagsOfResource", "dynamodb:Scan"]
        Resource = "${own.table}-erasures"
      }
      # The account, in the pool that a tag of the table of erasures names.
      DeleteAccount = {
        Action    = ["cognito-idp:AdminDeleteUser", "cognito-idp:ListUsers"]
        Resource  = "${local.arn.cognito-idp}:userpool/*"
        Condition = own.tagged
      }
      EraseSuppressed = { Action = ["ses:DeleteSuppressedDestination", "ses:GetSuppressedDestination"], Resource = "*" }
      EraseMails = {
        Action   = ["s3:DeleteObject", "s3:GetObject", "s3:ListBucket"]
        Resource = flatten([for bucket in slice(own.buckets, 1, length(own.buckets)) : [bucket, "${bucket}/*"]])
      }
      ReadErasureKey = { Action = "ssm:GetParameter", Resource = "${local.arn.ssm}:parameter/${own.name}/erasure-key" }
      # Created by the first erasure; another key would make all records useless.
      CreateErasureKey = {
        Action    = "ssm:PutParameter"
        Resource  = "${local.arn.ssm}:parameter/${own.name}/erasure-key"
        Condition = { StringNotEquals = { "ssm:Overwrite" = "true" } }
      }
      # docs/runbook.md, "Send mails again".
      SendAgain = { Action = "lambda:InvokeFunction", Resource = "${own.functions[0]}-mailer:live" }
    })
  } }

  # The boundary has no Sids, for its 6,144 characters.
  policies = merge([for stage, kinds in local.statements : { for kind, statements in kinds : "${stage}-${kind}" => {
    Version = "2012-10-17"
    Statement = [
      for sid, statement in statements : merge({ Effect = "Allow" }, kind == "boundary" ? {} : { Sid = sid }, statement)
      if try(length(statement.Resource), 1) > 0
    ]
  } }]...)

  # Complete subjects: `repo:OWNER/*` or `repo:*:environment:release` would match another repository's environment, and
  # a `*` at the end `release-test`.
  #
  # Repositories created or renamed since 15 July 2026 send subjects with ids, others when they opt in.
  repositories = var.github == null ? [] : concat(
    ["repo:${var.github.repository}"],
    var.github.owner_id == null ? [] : [
      "repo:${replace(var.github.repository, "/", "@${var.github.owner_id}/")}@${var.github.repository_id}",
    ],
  )
  roles = {
    for role in flatten([for stage in local.stages : ["${stage}-deploy", "${stage}-plan"]]) : role => {
      Version = "2012-10-17"
      Statement = [{
        Sid       = "GitHub"
        Effect    = "Allow"
        Action    = "sts:AssumeRoleWithWebIdentity"
        Principal = { Federated = "${local.iam}:oidc-provider/token.actions.githubusercontent.com" }
        Condition = {
          StringEquals = {
            "token.actions.githubusercontent.com:aud" = "sts.amazonaws.com"
            "token.actions.githubusercontent.com:sub" = formatlist(
              "%s:environment:${trimsuffix(role, "-deploy")}", local.repositories,
            )
          }
        }
      }]
    } if var.github != null
  }
}
