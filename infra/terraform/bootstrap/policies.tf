# Policies of the roles that GitHub assumes, and of operators. Only locals, so that tests evaluate them without an
# account; local.account, local.partition, local.region, local.api_ids and local.health_check_arns come from main.tf.
#
# Each stage has three policies for GitHub: `boundary` limits the roles `deploy` and `plan` and every role that `deploy`
# creates; `read` is attached to both roles, `deploy` to the role of that name. docs/roles.md says what follows.

locals {
  service = jsondecode(file("${path.module}/../service.json"))
  stages  = toset(keys(local.service.stages))

  # The path of the bootstrap's own roles and policies, which keeps them out of the patterns of a stage's names.
  path = "/terraform-bootstrap/"

  state_key = "inquiries/terraform.tfstate"

  iam = "arn:${local.partition}:iam::${local.account}"

  # Certificates of CloudFront and metrics of health checks are in us-east-1.
  regions = distinct([local.region, "us-east-1"])

  boundary_arns = { for stage in local.stages : stage => "${local.iam}:policy${local.path}${var.name}-${stage}-boundary-${local.region}" }

  site_arns = {
    for stage in local.stages : stage => [
      for object in ["", "/*"] : "arn:${local.partition}:s3:::${var.name}-${stage}-site-${local.account}${object}"
    ]
  }

  state_bucket_arn = "arn:${local.partition}:s3:::${var.bucket}"
  state_arns       = { for stage in local.stages : stage => "${local.state_bucket_arn}/env:/${stage}/${local.state_key}" }

  role_arns = { for stage in local.stages : stage => "${local.iam}:role/${var.name}-${stage}-*" }

  function_arns = {
    for stage in local.stages : stage => [
      for suffix in ["", ":*", "-*"] : "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${var.name}-${stage}${suffix}"
    ]
  }

  # Resources whose ARNs contain their names, which are NAME-STAGE or begin with NAME-STAGE- (variables.tf: name).
  named_arns = {
    for stage in local.stages : stage => concat(
      local.function_arns[stage],
      [local.role_arns[stage]],
      [for suffix in ["", "/*", "-*"] : "arn:${local.partition}:dynamodb:${local.region}:${local.account}:table/${var.name}-${stage}${suffix}"],
      [for suffix in ["", ":*", "-*"] : "arn:${local.partition}:logs:${local.region}:${local.account}:log-group:/aws/*/${var.name}-${stage}${suffix}"],
      [for region in local.regions : "arn:${local.partition}:cloudwatch:${region}:${local.account}:alarm:${var.name}-${stage}-*"],
      [for region in local.regions : "arn:${local.partition}:sns:${region}:${local.account}:${var.name}-${stage}-*"],
      [
        "arn:${local.partition}:cloudwatch::${local.account}:dashboard/${var.name}-${stage}",
        "arn:${local.partition}:events:${local.region}:${local.account}:rule/${var.name}-${stage}-*",
        "arn:${local.partition}:sqs:${local.region}:${local.account}:${var.name}-${stage}-*",
        "arn:${local.partition}:ses:${local.region}:${local.account}:configuration-set/${var.name}-${stage}",
      ],
    )
  }

  # Routes and integrations have no tags: a stage's roles may change the APIs that exist when this is applied,
  # by their ids.
  gateway = "arn:${local.partition}:apigateway:${local.region}::"
  gateway_arns = {
    for stage in local.stages : stage => [for path in concat(
      ["/apis"],
      flatten([for id in lookup(local.api_ids, stage, []) : ["/apis/${id}*", "/tags/*${id}*"]]),
      length(lookup(var.domains, stage, [])) == 0 ? [] : ["/domainnames"],
      flatten([for name in lookup(var.domains, stage, []) : ["/domainnames/${name}*"]]),
    ) : "${local.gateway}${path}"]
  }

  dns_statements = {
    for stage in local.stages : stage => [
      for names in [lookup(var.domains, stage, [])] : {
        # Records at and below the names only; those below prove to ACM who owns the domain.
        Sid      = "Records"
        Effect   = "Allow"
        Action   = "route53:ChangeResourceRecordSets"
        Resource = "arn:${local.partition}:route53:::hostedzone/*"
        Condition = {
          "ForAllValues:StringLike" = {
            "route53:ChangeResourceRecordSetsNormalizedRecordNames" = flatten([for name in names : [name, "*.${name}"]])
          }
        }
      } if length(names) > 0
    ]
  }

  tagged = { for stage in local.stages : stage => { StringEquals = { "aws:ResourceTag/service" = var.name, "aws:ResourceTag/stage" = stage } } }

  # In the boundary and in `deploy`. No role creates or tags what is allowed by its tags or by an id: otherwise it could
  # tag what is not its own, and then own it. An administrator creates these resources (docs/roles.md).
  shared_statements = {
    for stage in local.stages : stage => concat(local.dns_statements[stage], [for sid, statement in {
      # The lock is beside the state. No role deletes a state or one of its versions.
      WriteState = { Action = "s3:PutObject", Resource = "${local.state_arns[stage]}*" }
      Unlock     = { Action = "s3:DeleteObject", Resource = "${local.state_arns[stage]}.tflock" }
      Streams = {
        Action    = "lambda:*EventSourceMapping"
        Resource  = "*"
        Condition = { ArnLike = { "lambda:FunctionArn" = "${local.function_arns[stage][0]}-*" } }
      }
      # AWS has no narrower resource for the deliveries of logs, and headers policies have neither names nor tags.
      WriteUnnamed = {
        Action   = ["cloudfront:UpdateResponseHeadersPolicy", "logs:*LogDelivery", "logs:PutResourcePolicy"]
        Resource = "*"
      }
      HealthChecks = { Action = "route53:*HealthCheck", Resource = lookup(local.health_check_arns, stage, []) }
    } : merge({ Sid = sid, Effect = "Allow" }, statement) if length(statement.Resource) > 0])
  }

  boundaries = {
    for stage in local.stages : stage => {
      Version = "2012-10-17"
      Statement = concat(
        [for sid, statement in {
          Named = {
            Action   = ["cloudwatch:*", "dynamodb:*", "events:*", "iam:*", "lambda:*", "logs:*", "s3:*", "ses:*", "sns:*", "sqs:*"]
            Resource = concat(local.named_arns[stage], ["${local.site_arns[stage][0]}*"])
          }
          State = {
            Action   = ["s3:GetObject", "s3:ListBucket"]
            Resource = [local.state_bucket_arn, "${local.state_bucket_arn}/${local.state_key}", "${local.state_arns[stage]}*"]
          }
          Gateway = { Action = "apigateway:*", Resource = local.gateway_arns[stage] }
          # `*UserPool*` does not match the actions on users. Those here are for the user of the smoke test.
          Tagged = {
            Action = [
              "acm:*", "cloudfront:*", "cognito-idp:*Branding*", "cognito-idp:*UserPool*",
              "cognito-idp:AdminCreateUser", "cognito-idp:AdminInit*", "cognito-idp:AdminResp*",
              "cognito-idp:Get*", "cognito-idp:ListTags*", "cognito-idp:SetUI*", "ses:*",
            ]
            Resource  = "*"
            Condition = local.tagged[stage]
          }
          # A mailer may send by an identity that another stage created, or that someone has given the tag.
          Mail = {
            Action    = "ses:SendEmail"
            Resource  = "*"
            Condition = { StringEquals = { "aws:ResourceTag/service" = var.name } }
          }
          # A table may use a key of other owners.
          Keys = {
            Action    = "kms:*"
            Resource  = "*"
            Condition = { StringEquals = { "kms:ViaService" = "dynamodb.${local.region}.amazonaws.com" } }
          }
          # Shorter patterns than in `read`: a policy has at most 6,144 characters.
          Unnamed = {
            Action = [
              "cloudfront:Get*", "cloudfront:List*", "cloudwatch:Describe*", "cognito-idp:DescribeUserPoolD*",
              "lambda:GetEvent*", "lambda:List*", "lambda:TagResource",
              "logs:Describe*", "logs:List*", "logs:Test*",
              "route53:Get*", "route53:List*", "ses:Get*", "ses:List*", "sns:GetSub*", "xray:Put*",
            ]
            Resource = "*"
          }
        } : merge({ Sid = sid, Effect = "Allow" }, statement)],
        local.shared_statements[stage],
        [for sid, statement in {
          # Otherwise a role could be created that may do more than the one that creates it.
          BoundedRoles = {
            Action    = ["iam:AttachRolePolicy", "iam:CreateRole", "iam:PutRoleP*"]
            Resource  = "*"
            Condition = { StringNotEquals = { "iam:PermissionsBoundary" = local.boundary_arns[stage] } }
          }
          Bootstrap = { Action = "iam:*", Resource = [for kind in ["policy", "role"] : "${local.iam}:${kind}${local.path}*"] }
          # UpdateTable switches off deletion protection, UpdateContinuousBackups the backups, and UpdateTimeToLive deletes
          # rows; IAM has no condition on what they change.
          Never = {
            Action = concat(["iam:DeleteRolePermissionsBoundary"], stage == "develop" ? [] : [
              "cognito-idp:DeleteUserPool", "dynamodb:DeleteBackup", "dynamodb:DeleteTable", "dynamodb:UpdateC*", "dynamodb:UpdateT*",
            ])
            Resource = "*"
          }
        } : merge({ Sid = sid, Effect = "Deny" }, statement)],
      )
    }
  }

  # Attached to both roles. `terraform init` reads the state of the workspace `default`, which never exists.
  read_policies = {
    for stage in local.stages : stage => {
      Version = "2012-10-17"
      Statement = [for sid, statement in {
        StateBucket = { Action = "s3:ListBucket", Resource = local.state_bucket_arn }
        State = {
          Action   = "s3:GetObject"
          Resource = ["${local.state_arns[stage]}*", "${local.state_bucket_arn}/${local.state_key}"]
        }
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
          Resource = local.named_arns[stage]
        }
        ReadSite    = { Action = ["s3:Get*", "s3:ListBucket", "s3:ListTagsForResource"], Resource = local.site_arns[stage] }
        ReadGateway = { Action = "apigateway:GET", Resource = local.gateway_arns[stage] }
        # Configuration of what has no names, and lists.
        ReadUnnamed = {
          Action = [
            "cloudfront:Get*", "cloudfront:List*",
            "cloudwatch:DescribeAlarms",
            "cognito-idp:DescribeUserPoolDomain",
            "lambda:GetEventSourceMapping", "lambda:ListEventSourceMappings", "lambda:ListTags",
            "logs:DescribeLogGroups", "logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries",
            "logs:TestMetricFilter",
            "route53:Get*", "route53:List*",
            "ses:GetEmailIdentity", "ses:ListTagsForResource",
            "sns:GetSubscriptionAttributes",
          ]
          Resource = "*"
        }
        ReadTagged = {
          Action = [
            "acm:DescribeCertificate", "acm:GetCertificate", "acm:ListTagsForCertificate",
            "cognito-idp:Describe*", "cognito-idp:GetLogDeliveryConfiguration", "cognito-idp:GetUICustomization",
            "cognito-idp:GetUserPoolMfaConfig", "cognito-idp:ListTagsForResource", "cognito-idp:ListUserPoolClients",
          ]
          Resource  = "*"
          Condition = local.tagged[stage]
        }
      } : merge({ Sid = sid, Effect = "Allow" }, statement)]
    }
  }

  deploy_policies = {
    for stage in local.stages : stage => {
      Version = "2012-10-17"
      Statement = concat(
        local.shared_statements[stage],
        [for sid, statement in {
          WriteSite = { Action = "s3:*", Resource = local.site_arns[stage] }
          WriteNamed = {
            Action = [
              "cloudwatch:DeleteAlarms", "cloudwatch:DeleteDashboards", "cloudwatch:Put*Alarm", "cloudwatch:PutDashboard",
              "cloudwatch:TagResource", "cloudwatch:UntagResource",
              "dynamodb:CreateTable", "dynamodb:DeleteTable", "dynamodb:TagResource", "dynamodb:UntagResource",
              "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTable", "dynamodb:UpdateTimeToLive",
              "iam:CreateRole", "iam:DeleteRole", "iam:DeleteRolePolicy", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy",
              "iam:TagRole", "iam:UntagRole", "iam:UpdateAssumeRolePolicy", "iam:UpdateRole*",
              "lambda:AddPermission", "lambda:RemovePermission", "lambda:*Function", "lambda:*Alias", "lambda:PublishVersion",
              "lambda:*FunctionConcurrency", "lambda:*FunctionEventInvokeConfig", "lambda:UpdateFunction*", "lambda:TagResource", "lambda:UntagResource",
              "logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:*MetricFilter", "logs:*RetentionPolicy",
              "logs:TagResource", "logs:UntagResource",
              "ses:*ConfigurationSet*", "ses:TagResource", "ses:UntagResource",
              "sns:CreateTopic", "sns:DeleteTopic", "sns:SetSubscriptionAttributes", "sns:SetTopicAttributes", "sns:Subscribe",
              "sns:TagResource", "sns:Unsubscribe", "sns:UntagResource",
              "events:DeleteRule", "events:Put*", "events:RemoveTargets", "events:TagResource", "events:UntagResource",
              "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes", "sqs:TagQueue", "sqs:UntagQueue",
            ]
            Resource = local.named_arns[stage]
          }
          PassRole = {
            Action    = "iam:PassRole"
            Resource  = local.role_arns[stage]
            Condition = { StringEquals = { "iam:PassedToService" = "lambda.amazonaws.com" } }
          }
          WriteGateway = {
            Action = [
              "apigateway:DELETE", "apigateway:PATCH", "apigateway:POST", "apigateway:PUT", "apigateway:TagResource", "apigateway:UntagResource",
            ]
            Resource = local.gateway_arns[stage]
          }
          WriteTagged = {
            Action = [
              "acm:DeleteCertificate", "acm:UpdateCertificateOptions",
              "cloudfront:CreateInvalidation", "cloudfront:DeleteDistribution", "cloudfront:UpdateDistribution",
              "cognito-idp:*ManagedLoginBranding*", "cognito-idp:*UserPool*", "cognito-idp:SetUICustomization",
              "cognito-idp:AdminCreateUser", "cognito-idp:AdminInitiateAuth", "cognito-idp:AdminRespondToAuthChallenge",
              "ses:DeleteEmailIdentity", "ses:PutEmailIdentity*",
            ]
            Resource  = "*"
            Condition = local.tagged[stage]
          }
          # A new event source mapping is tagged; no statement allows anything by these tags.
          TagStreams = {
            Action    = "lambda:TagResource"
            Resource  = "arn:${local.partition}:lambda:${local.region}:${local.account}:event-source-mapping:*"
            Condition = { StringEquals = { "aws:RequestTag/service" = var.name, "aws:RequestTag/stage" = stage } }
          }
        } : merge({ Sid = sid, Effect = "Allow" }, statement)],
      )
    }
  }

  # What `npm run inbox -- --stage STAGE` may do, for the permission sets, groups or roles of operators: one
  # of the two policies is attached by hand. The smaller one cannot delete. They are not the stage's, so that
  # no role that deploys can change what people may do. Neither reaches a restored table: whoever may restore
  # one may replay the erasures in it.
  answer_statements = {
    for stage, arn in local.table_arns : stage => [for sid, statement in {
      # Lists through the index, then whole rows by their keys; exports and erasures from the table.
      Read = {
        Action   = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"]
        Resource = [arn, "${arn}/index/by-state"]
      }
      # The three columns of an answer, and its place in the index. The keys are in the update's condition,
      # and IAM does not distinguish what a condition reads from what an update sets; DynamoDB itself refuses
      # a change of the keys.
      Answer = {
        Action   = "dynamodb:UpdateItem"
        Resource = arn
        Condition = {
          "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk", "reply", "respondent", "reply_at", "inbox"] }
          "ForAllValues:StringLike"   = { "dynamodb:LeadingKeys" = "$inquiries#cognito_sub_*" }
        }
      }
      # Whether the stage has a mailer, which the page says beside a reply.
      FindMailer = {
        Action   = "lambda:GetFunctionConcurrency"
        Resource = "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${var.name}-${stage}-mailer"
      }
    } : merge({ Sid = sid, Effect = "Allow" }, statement)]
  }
  erase_statements = {
    for stage, arn in local.table_arns : stage => [for sid, statement in {
      # BatchWriteItem deletes, but also puts: the condition allows no item with more than its keys.
      Erase = {
        Action    = "dynamodb:BatchWriteItem"
        Resource  = arn
        Condition = { "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk"] } }
      }
      # A record is its key and nothing else, so that a put changes no record that exists. Records of another
      # form have no #.
      RecordErasure = {
        Action   = "dynamodb:PutItem"
        Resource = "${arn}-erasures"
        Condition = {
          "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["hash"] }
          "ForAllValues:StringLike"   = { "dynamodb:LeadingKeys" = "*#*" }
        }
      }
      ReadErasures = {
        Action   = ["dynamodb:DescribeTable", "dynamodb:ListTagsOfResource", "dynamodb:Scan"]
        Resource = "${arn}-erasures"
      }
      # The account of an erased user in the stage's own pool, which a tag of the table of erasures names.
      DeleteAccount = {
        Action    = ["cognito-idp:AdminDeleteUser", "cognito-idp:ListUsers"]
        Resource  = "arn:${local.partition}:cognito-idp:${local.region}:${local.account}:userpool/*"
        Condition = local.tagged[stage]
      }
      ReadErasureKey = {
        Action   = "ssm:GetParameter"
        Resource = "arn:${local.partition}:ssm:${local.region}:${local.account}:parameter/${var.name}-${stage}/erasure-key"
      }
      # The first erasure creates it; nobody may replace it: a replaced key makes all records useless.
      CreateErasureKey = {
        Action    = "ssm:PutParameter"
        Resource  = "arn:${local.partition}:ssm:${local.region}:${local.account}:parameter/${var.name}-${stage}/erasure-key"
        Condition = { StringNotEquals = { "ssm:Overwrite" = "true" } }
      }
      # Mails of inquiries again, by id (docs/runbook.md).
      SendAgain = {
        Action   = "lambda:InvokeFunction"
        Resource = "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${var.name}-${stage}-mailer:live"
      }
    } : merge({ Sid = sid, Effect = "Allow" }, statement)]
  }
  table_arns = { for stage in local.stages : stage => "arn:${local.partition}:dynamodb:${local.region}:${local.account}:table/${var.name}-${stage}" }
  inbox_policies = merge(
    { for stage in local.stages : "${stage}-inbox" => { Version = "2012-10-17", Statement = concat(local.answer_statements[stage], local.erase_statements[stage]) } },
    { for stage in local.stages : "${stage}-inbox-answer" => { Version = "2012-10-17", Statement = local.answer_statements[stage] } },
  )

  # Who may assume which role: workflows of the repository whose job has the environment of the role. A list of complete
  # subjects, never a wildcard: `repo:OWNER/*` or `repo:*:environment:release` would also match an environment
  # of the same name in another repository, and a `*` at the end would match `release` of an environment named
  # `release-test`.
  #
  # Repositories created or renamed since 15 July 2026 send subjects with ids, others when they opt in.
  environments = { deploy = "", plan = "-plan" }
  repositories = var.github == null ? [] : concat(
    ["repo:${var.github.repository}"],
    var.github.owner_id == null || var.github.repository_id == null ? [] : [
      for part in [split("/", var.github.repository)] : "repo:${part[0]}@${var.github.owner_id}/${part[1]}@${var.github.repository_id}"
    ],
  )
  provider_arn = "${local.iam}:oidc-provider/token.actions.githubusercontent.com"
  trust_policies = {
    for kind, suffix in local.environments : kind => {
      for stage in local.stages : stage => {
        Version = "2012-10-17"
        Statement = [{
          Sid       = "GitHub"
          Effect    = "Allow"
          Action    = "sts:AssumeRoleWithWebIdentity"
          Principal = { Federated = local.provider_arn }
          Condition = {
            StringEquals = {
              "token.actions.githubusercontent.com:aud" = "sts.amazonaws.com"
              "token.actions.githubusercontent.com:sub" = [for repository in local.repositories : "${repository}:environment:${stage}${suffix}"]
            }
          }
        }]
      }
    }
  }
}
