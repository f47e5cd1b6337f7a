# Policies of the roles that GitHub assumes. This file has locals only, so that tests evaluate them without an account. It
# reads local.account, local.partition, local.region and local.api_ids.
#
# Three policies per stage: the boundary limits the roles `deploy` and `plan` and every role that `deploy` creates; `read` is attached
# to both roles, `deploy` to the role of that name. Neither role may read items of the tables. But whoever may deploy a function may have it read
# them: the boundary keeps that to the tables of the stage.
#
# What these policies do not separate: CloudFront's origin access controls and response headers policies, Route 53's health
# checks and SNS subscriptions have neither tags nor names in IAM. A role of one stage can change those of another.

locals {
  stages = toset(["develop", "main", "release"])

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
      [local.role_arns[stage], "${local.iam}:policy/${var.name}-${stage}-*"],
      [for suffix in ["", "/*", "-*"] : "arn:${local.partition}:dynamodb:${local.region}:${local.account}:table/${var.name}-${stage}${suffix}"],
      [for suffix in ["", ":*", "-*"] : "arn:${local.partition}:logs:${local.region}:${local.account}:log-group:/aws/*/${var.name}-${stage}${suffix}"],
      [for suffix in ["", "-*"] : "arn:${local.partition}:cloudwatch::${local.account}:dashboard/${var.name}-${stage}${suffix}"],
      [for region in local.regions : "arn:${local.partition}:cloudwatch:${region}:${local.account}:alarm:${var.name}-${stage}-*"],
      [for region in local.regions : "arn:${local.partition}:sns:${region}:${local.account}:${var.name}-${stage}-*"],
      [
        "arn:${local.partition}:sqs:${local.region}:${local.account}:${var.name}-${stage}-*",
        "arn:${local.partition}:cloudfront::${local.account}:function/${var.name}-${stage}-*",
      ],
    )
  }

  gateway = "arn:${local.partition}:apigateway:${local.region}::"
  gateway_arns = {
    for stage in local.stages : stage => concat(
      [for path in ["/apis", "/apis/*", "/tags/*"] : "${local.gateway}${path}"],
      length(lookup(var.domains, stage, [])) == 0 ? [] : ["${local.gateway}/domainnames"],
      flatten([for name in lookup(var.domains, stage, []) : ["${local.gateway}/domainnames/${name}", "${local.gateway}/domainnames/${name}/*"]]),
    )
  }
  foreign_api_arns = {
    for stage in local.stages : stage => flatten([
      for other, ids in local.api_ids : [for id in ids : ["${local.gateway}/apis/${id}*", "${local.gateway}/tags/*${id}*"]]
      if other != stage
    ])
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

  tagged  = { for stage in local.stages : stage => { StringEquals = { "aws:ResourceTag/service" = var.name, "aws:ResourceTag/stage" = stage } } }
  tagging = { for stage in local.stages : stage => { StringEquals = { "aws:RequestTag/service" = var.name, "aws:RequestTag/stage" = stage } } }

  boundaries = {
    for stage in local.stages : stage => {
      Version = "2012-10-17"
      Statement = concat(
        [for sid, statement in {
          Named = {
            Action   = ["cloudwatch:*", "dynamodb:*", "iam:*", "lambda:*", "logs:*", "s3:*", "sns:*", "sqs:*"]
            Resource = concat(local.named_arns[stage], local.site_arns[stage], ["${local.state_arns[stage]}*"])
          }
          State = {
            Action   = ["s3:GetObject", "s3:ListBucket"]
            Resource = [local.state_bucket_arn, "${local.state_bucket_arn}/${local.state_key}"]
          }
          Gateway = {
            Action   = "apigateway:*"
            Resource = local.gateway_arns[stage]
          }
          Unnamed = {
            Action = [
              "acm:*", "cloudfront:*", "cognito-idp:*", "ses:*",
              "cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData",
              "iam:CreateServiceLinkedRole",
              "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*",
              "lambda:*EventSourceMapping*", "lambda:ListTags", "lambda:TagResource", "lambda:UntagResource",
              "logs:*LogDeliver*", "logs:*ResourcePolic*", "logs:DescribeLogGroups",
              "route53:*HealthCheck*", "route53:ChangeTagsForResource", "route53:Get*", "route53:List*",
              "sns:*Subscription*", "sns:Unsubscribe",
              "xray:Put*",
            ]
            Resource = "*"
          }
        } : merge({ Sid = sid, Effect = "Allow" }, statement)],
        local.dns_statements[stage],
        # A mailer may send by an identity that another stage created, and a table may use a key of other owners.
        [for tag, value in { service = var.name, stage = stage } : {
          Sid                        = "Other${title(tag)}"
          Effect                     = "Deny"
          NotAction                  = ["kms:*", "ses:SendEmail"]
          Resource                   = "*"
          Condition = {
            Null            = { "aws:ResourceTag/${tag}" = "false" }
            StringNotEquals = { "aws:ResourceTag/${tag}" = value }
          }
        }],
        [for sid, statement in {
          # Otherwise a role could be created that may do more than the one that creates it.
          BoundedRolesOnly = {
            Action    = ["iam:AttachRolePolicy", "iam:CreateRole", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy"]
            Resource  = "*"
            Condition = { StringNotEquals = { "iam:PermissionsBoundary" = local.boundary_arns[stage] } }
          }
          BoundariesStay = { Action = "iam:DeleteRolePermissionsBoundary", Resource = "*" }
          Bootstrap = {
            Action   = "iam:*"
            Resource = [for name in ["oidc-provider/*", "policy${local.path}*", "role${local.path}*"] : "${local.iam}:${name}"]
          }
        } : merge({ Sid = sid, Effect = "Deny" }, statement)],
        [for arns in [local.foreign_api_arns[stage]] : {
          Sid      = "OtherApis"
          Effect   = "Deny"
          Action   = "apigateway:*"
          Resource = arns
        } if length(arns) > 0],
      )
    }
  }

  # Attached to both roles. `terraform init` reads the state of the workspace `default`, which never exists.
  read_policies = {
    for stage in local.stages : stage => {
      Version = "2012-10-17"
      Statement = [for sid, statement in {
        StateBucket = {
          Action   = "s3:ListBucket"
          Resource = local.state_bucket_arn
        }
        State = {
          Action   = "s3:GetObject"
          Resource = [local.state_arns[stage], "${local.state_bucket_arn}/${local.state_key}"]
        }
        # A plan locks the state, too.
        Lock = {
          Action   = ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
          Resource = "${local.state_arns[stage]}.tflock"
        }
        ReadNamed = {
          Action = [
            "cloudfront:DescribeFunction", "cloudfront:GetFunction",
            "cloudwatch:GetDashboard", "cloudwatch:ListTagsForResource",
            "dynamodb:Describe*", "dynamodb:ListTagsOfResource",
            "iam:Get*", "iam:List*",
            "lambda:Get*", "lambda:List*",
            "logs:DescribeMetricFilters", "logs:ListTags*",
            "sns:GetTopicAttributes", "sns:List*",
            "sqs:GetQueue*", "sqs:ListQueueTags",
          ]
          Resource = local.named_arns[stage]
        }
        ReadSite = {
          Action   = ["s3:Get*", "s3:ListBucket"]
          Resource = local.site_arns[stage]
        }
        ReadGateway = {
          Action   = "apigateway:GET"
          Resource = local.gateway_arns[stage]
        }
        # Configuration of what has no names, and lists. `*UserPool*` does not match the actions on users.
        ReadUnnamed = {
          Action = [
            "acm:DescribeCertificate", "acm:GetCertificate", "acm:ListTagsForCertificate",
            "cloudfront:Get*", "cloudfront:List*",
            "cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData",
            "cognito-idp:DescribeUserPoolDomain",
            "kms:DescribeKey",
            "lambda:GetEventSourceMapping", "lambda:ListEventSourceMappings", "lambda:ListTags",
            "logs:DescribeLogGroups", "logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries",
            "route53:Get*", "route53:List*",
            "ses:GetEmailIdentity", "ses:ListTagsForResource",
            "sns:GetSubscriptionAttributes",
          ]
          Resource = "*"
        }
        ReadTagged = {
          Action = [
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
        local.dns_statements[stage],
        [for sid, statement in {
          WriteState = {
            Action   = "s3:PutObject"
            Resource = local.state_arns[stage]
          }
          WriteSite = {
            Action   = "s3:*"
            Resource = local.site_arns[stage]
          }
          WriteNamed = {
            Action = [
              "cloudfront:CreateFunction", "cloudfront:DeleteFunction", "cloudfront:PublishFunction", "cloudfront:UpdateFunction",
              "cloudwatch:DeleteAlarms", "cloudwatch:DeleteDashboards", "cloudwatch:Put*Alarm", "cloudwatch:PutDashboard",
              "cloudwatch:TagResource", "cloudwatch:UntagResource",
              "dynamodb:CreateTable", "dynamodb:DeleteTable", "dynamodb:TagResource", "dynamodb:UntagResource",
              "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTable", "dynamodb:UpdateTimeToLive",
              "iam:CreatePolicy", "iam:CreatePolicyVersion", "iam:DeletePolicy", "iam:DeletePolicyVersion",
              "iam:CreateRole", "iam:DeleteRole", "iam:DeleteRolePolicy", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy",
              "iam:TagPolicy", "iam:TagRole", "iam:UntagPolicy", "iam:UntagRole", "iam:UpdateAssumeRolePolicy", "iam:UpdateRole*",
              "lambda:AddPermission", "lambda:RemovePermission", "lambda:*Function", "lambda:*Alias", "lambda:PublishVersion",
              "lambda:*FunctionConcurrency", "lambda:UpdateFunction*", "lambda:TagResource", "lambda:UntagResource",
              "logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:*MetricFilter", "logs:*RetentionPolicy",
              "logs:TagResource", "logs:UntagResource",
              "sns:CreateTopic", "sns:DeleteTopic", "sns:SetTopicAttributes", "sns:Subscribe", "sns:TagResource", "sns:UntagResource",
              "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes", "sqs:TagQueue", "sqs:UntagQueue",
            ]
            Resource = local.named_arns[stage]
          }
          PassRole = {
            Action    = "iam:PassRole"
            Resource  = local.role_arns[stage]
            Condition = { StringEquals = { "iam:PassedToService" = "lambda.amazonaws.com" } }
          }
          # API Gateway creates its role with the first custom domain of an account.
          ServiceLinkedRole = {
            Action    = "iam:CreateServiceLinkedRole"
            Resource  = "*"
            Condition = { StringEquals = { "iam:AWSServiceName" = "ops.apigateway.amazonaws.com" } }
          }
          Streams = {
            Action    = ["lambda:CreateEventSourceMapping", "lambda:DeleteEventSourceMapping", "lambda:UpdateEventSourceMapping"]
            Resource  = "*"
            Condition = { ArnLike = { "lambda:FunctionArn" = local.function_arns[stage] } }
          }
          WriteGateway = {
            Action = [
              "apigateway:DELETE", "apigateway:PATCH", "apigateway:POST", "apigateway:PUT", "apigateway:TagResource", "apigateway:UntagResource",
            ]
            Resource = local.gateway_arns[stage]
          }
          CreateTagged = {
            Action = [
              "acm:AddTagsToCertificate", "acm:RequestCertificate",
              "cloudfront:TagResource",
              "cognito-idp:CreateUserPool", "cognito-idp:TagResource",
              "lambda:TagResource",
              "ses:CreateEmailIdentity", "ses:TagResource",
            ]
            Resource  = "*"
            Condition = local.tagging[stage]
          }
          WriteTagged = {
            Action = [
              "acm:DeleteCertificate", "acm:RemoveTagsFromCertificate", "acm:UpdateCertificateOptions",
              "cloudfront:CreateInvalidation", "cloudfront:DeleteDistribution", "cloudfront:UntagResource", "cloudfront:UpdateDistribution",
              "cognito-idp:*ManagedLoginBranding*", "cognito-idp:*UserPool*", "cognito-idp:SetUICustomization", "cognito-idp:UntagResource",
              # The user of the smoke test.
              "cognito-idp:AdminCreateUser", "cognito-idp:AdminDeleteUser", "cognito-idp:AdminInitiateAuth", "cognito-idp:AdminSetUserPassword",
              "lambda:UntagResource",
              "ses:DeleteEmailIdentity", "ses:PutEmailIdentity*", "ses:UntagResource",
            ]
            Resource  = "*"
            Condition = local.tagged[stage]
          }
          WriteUnnamed = {
            Action = [
              "cloudfront:*CachePolicy", "cloudfront:*OriginAccessControl", "cloudfront:*ResponseHeadersPolicy", "cloudfront:CreateDistribution",
              "logs:*LogDelivery", "logs:PutResourcePolicy",
              "route53:*HealthCheck", "route53:ChangeTagsForResource",
              "sns:SetSubscriptionAttributes", "sns:Unsubscribe",
            ]
            Resource = "*"
          }
          # For the tables, by a customer's key.
          Grants = {
            Action    = "kms:CreateGrant"
            Resource  = "*"
            Condition = { Bool = { "kms:GrantIsForAWSResource" = "true" } }
          }
        } : merge({ Sid = sid, Effect = "Allow" }, statement)],
      )
    }
  }

  # Who may assume which role: workflows of the repository whose job has the environment of the role. A list of complete
  # subjects, never a wildcard: `repo:OWNER/*` or `repo:*:environment:release` would also match an environment of the same
  # name in another repository, and a `*` at the end would match `release` of an environment named `release-test`.
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
