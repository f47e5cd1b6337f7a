# The resources, with a mocked provider; what the policies mean is tested in tests/infra/bootstrap-policies.test.ts.

mock_provider "aws" { source = "../tests/mocks" }

mock_provider "aws" {
  alias  = "us_east_1"
  source = "../tests/mocks"
}

# A mocked provider imports nothing.
override_resource {
  target = aws_s3_bucket.state
}

variables { bucket = "state-bucket" }

run "bucket" {
  command = plan

  assert {
    condition = (
      aws_s3_bucket_versioning.state.versioning_configuration[0].status == "Enabled"
      && one(aws_s3_bucket_server_side_encryption_configuration.state.rule).apply_server_side_encryption_by_default[0].sse_algorithm == "AES256"
      && aws_s3_bucket_ownership_controls.state.rule[0].object_ownership == "BucketOwnerEnforced"
    )
    error_message = "CKV_AWS_19, CKV_AWS_21, CKV2_AWS_65, AVD-AWS-0088, AVD-AWS-0090: the bucket has no versions, is not encrypted, or can have access control lists."
  }
  assert {
    condition = alltrue([
      aws_s3_bucket_public_access_block.state.block_public_acls,
      aws_s3_bucket_public_access_block.state.block_public_policy,
      aws_s3_bucket_public_access_block.state.ignore_public_acls,
      aws_s3_bucket_public_access_block.state.restrict_public_buckets,
    ])
    error_message = "CKV2_AWS_6, AVD-AWS-0086: the bucket can be made public."
  }
  assert {
    condition = jsondecode(aws_s3_bucket_policy.state.policy).Statement == [{
      Sid       = "OnlyTls"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = ["arn:aws:s3:::state-bucket", "arn:aws:s3:::state-bucket/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
    error_message = "The bucket answers without TLS."
  }
  assert {
    condition = alltrue([for rule in aws_s3_bucket_lifecycle_configuration.state.rule :
      rule.status == "Enabled"
      && length(rule.expiration) == 0
      && rule.noncurrent_version_expiration[0].noncurrent_days == 365
      && rule.noncurrent_version_expiration[0].newer_noncurrent_versions == 20
    ]) && length(aws_s3_bucket_lifecycle_configuration.state.rule) == 1
    error_message = "Old versions of the state stay for ever, or present ones expire."
  }
  assert {
    condition = (
      length(aws_iam_role.deploy) + length(aws_iam_role.plan) + length(aws_iam_openid_connect_provider.github) + length(aws_iam_policy.boundary) == 0
      && output.permissions_boundaries == {} && output.github_roles == {} && length(aws_budgets_budget.monthly) == 0
    )
    error_message = "Roles or a budget were created without a setting, or are outputs."
  }
  assert {
    condition = toset([for policy in aws_iam_policy.inbox : "${policy.path}${policy.name}"]) == toset(flatten([
      for stage in ["develop", "main", "release"] : [
        "/terraform-bootstrap/inquiries-${stage}-inbox-eu-central-1", "/terraform-bootstrap/inquiries-${stage}-inbox-answer-eu-central-1",
      ]
    ])) && alltrue([for name, policy in aws_iam_policy.inbox : jsondecode(policy.policy) == jsondecode(jsonencode(local.inbox_policies[name]))])
    error_message = "The policies of operators are not bootstrap's, or are not those of local.inbox_policies."
  }
}

run "github_and_budget" {
  command = plan

  variables {
    budget = { monthly_usd = 10.5, email = "team@example.com" }
    github = { repository = "octo/inquiries", owner_id = "1", repository_id = "23" }
  }

  assert {
    condition     = one(aws_iam_openid_connect_provider.github).url == "https://token.actions.githubusercontent.com" && one(aws_iam_openid_connect_provider.github).client_id_list == toset(["sts.amazonaws.com"])
    error_message = "The identity provider is not GitHub's for AWS."
  }
  assert {
    condition = alltrue(flatten([
      for stage, policy in aws_iam_policy.boundary : [
        for role in [aws_iam_role.deploy[stage], aws_iam_role.plan[stage]] :
        role.permissions_boundary == "arn:aws:iam::111122223333:policy${policy.path}${policy.name}" && role.path == "/terraform-bootstrap/"
        && role.max_session_duration == 3600
      ]
    ]))
    error_message = "The boundary of a role is not the one that is created, the role is within the names that deploy roles may change, or a session lasts longer than an hour."
  }
  assert {
    condition = alltrue([
      for stage, policy in aws_iam_policy.boundary :
      jsondecode(policy.policy) == jsondecode(jsonencode(local.boundaries[stage]))
      && jsondecode(aws_iam_policy.read[stage].policy) == jsondecode(jsonencode(local.read_policies[stage]))
      && jsondecode(aws_iam_role_policy.deploy[stage].policy) == jsondecode(jsonencode(local.deploy_policies[stage]))
      && jsondecode(aws_iam_role.deploy[stage].assume_role_policy) == jsondecode(jsonencode(local.trust_policies.deploy[stage]))
      && jsondecode(aws_iam_role.plan[stage].assume_role_policy) == jsondecode(jsonencode(local.trust_policies.plan[stage]))
    ])
    error_message = "A role has the policy of another one."
  }
  assert {
    condition = (
      strcontains(aws_iam_policy.boundary["develop"].policy, "/apis/mockapi*")
      && strcontains(aws_iam_policy.boundary["develop"].policy, "arn:aws:route53:::healthcheck/mock")
    )
    error_message = "The boundary does not have the stage's API and health checks by their ids."
  }
  assert {
    condition     = length(output.permissions_boundaries) == 3 && keys(output.github_roles) == ["develop", "develop-plan", "main", "main-plan", "release", "release-plan"]
    error_message = "The outputs do not name the roles by their GitHub environments."
  }
  assert {
    condition = (
      aws_budgets_budget.monthly["account"].limit_amount == "10.5"
      && aws_budgets_budget.monthly["account"].time_unit == "MONTHLY"
      && { for entry in aws_budgets_budget.monthly["account"].notification : entry.notification_type => entry.threshold } == { ACTUAL = 80, FORECASTED = 100 }
      && alltrue([for entry in aws_budgets_budget.monthly["account"].notification : entry.comparison_operator == "GREATER_THAN" && entry.subscriber_email_addresses == toset(["team@example.com"])])
    )
    error_message = "The budget does not mail at 80 % of the costs and when 100 % are forecast."
  }
}

run "existing_provider" {
  command = plan

  variables { github = { repository = "octo/inquiries", existing_provider = true } }

  assert {
    condition     = length(aws_iam_openid_connect_provider.github) == 0 && length(aws_iam_role.deploy) == 3
    error_message = "A second identity provider was created, which AWS refuses."
  }
}

run "wildcards_and_single_ids" {
  command = plan

  variables {
    github  = { repository = "octo/*", owner_id = "1" }
    domains = { main = ["*.example.com"], test = ["example.com"] }
    budget  = { monthly_usd = 0, email = "ana" }
  }

  expect_failures = [var.github, var.domains, var.budget]
}
