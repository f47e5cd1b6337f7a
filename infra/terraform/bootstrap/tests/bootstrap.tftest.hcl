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

  # CKV_AWS_19, CKV_AWS_21, CKV2_AWS_6, CKV2_AWS_65, AVD-AWS-0086, AVD-AWS-0088, AVD-AWS-0090
  assert {
    condition = (
      [aws_s3_bucket_versioning.state.versioning_configuration[0].status, aws_s3_bucket_ownership_controls.state.rule[0].object_ownership] == ["Enabled", "BucketOwnerEnforced"]
      && one(aws_s3_bucket_server_side_encryption_configuration.state.rule).apply_server_side_encryption_by_default[0].sse_algorithm == "AES256"
      && alltrue([for option in ["block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"] : aws_s3_bucket_public_access_block.state[option]])
      && [for statement in jsondecode(aws_s3_bucket_policy.state.policy).Statement : [statement.Effect, statement.Principal, statement.Condition.Bool["aws:SecureTransport"], statement.Resource[1]]] == [["Deny", "*", "false", "arn:aws:s3:::state-bucket/*"]]
    )
    error_message = "The bucket is not versioned, encrypted or private."
  }
  assert {
    condition = [for rule in aws_s3_bucket_lifecycle_configuration.state.rule : [
      rule.status, length(rule.expiration), rule.noncurrent_version_expiration[0].noncurrent_days, rule.noncurrent_version_expiration[0].newer_noncurrent_versions
    ]] == [["Enabled", 0, 365, 20]]
    error_message = "Old states stay for ever, or present ones expire."
  }
  assert {
    condition = (
      [length(aws_iam_role.github), length(aws_iam_openid_connect_provider.github), length(aws_budgets_budget.monthly), output.permissions_boundaries, output.github_roles] == [0, 0, 0, {}, {}]
      && toset(keys(output.inbox_policy_arns)) == toset(flatten([for stage in ["develop", "main", "release"] : ["${stage}-inbox", "${stage}-inbox-answer"]]))
    )
    error_message = "Something exists without its setting."
  }
}

run "github_and_budget" {
  command = plan

  variables {
    budget = { monthly_usd = 10.5, email = "team@example.com" }
    github = { repository = "octo/inquiries", owner_id = "1", repository_id = "23" }
  }

  assert {
    condition = (
      [for provider in aws_iam_openid_connect_provider.github : [provider.url, join(" ", provider.client_id_list)]] == [["https://token.actions.githubusercontent.com", "sts.amazonaws.com"]]
      && { for name, role in aws_iam_role.github : name => [role.name, role.path, role.max_session_duration, role.permissions_boundary, role.assume_role_policy] } == {
        for name, trust in local.trust : name => [
          "inquiries-${name}-eu-central-1", "/terraform-bootstrap/", 3600,
          "arn:aws:iam::111122223333:policy/terraform-bootstrap/${aws_iam_policy.this["${split("-", name)[0]}-boundary"].name}", jsonencode(trust),
        ]
      }
      && { for name, policy in aws_iam_role_policy.deploy : name => policy.policy } == { for stage in local.stages : "${stage}-deploy" => jsonencode(local.policies["${stage}-deploy"]) }
      && { for name, policy in aws_iam_policy.this : policy.name => [policy.path, policy.policy] } == {
        for name, policy in local.policies : "inquiries-${name}-eu-central-1" => ["/terraform-bootstrap/", jsonencode(policy)] if !endswith(name, "-deploy")
      }
    )
    error_message = "A role has the trust, the boundary or the policy of another, or lasts too long."
  }
  assert {
    condition = (
      strcontains(aws_iam_policy.this["develop-boundary"].policy, "/apis/mockapi*") && strcontains(aws_iam_policy.this["develop-boundary"].policy, "arn:aws:route53:::healthcheck/mock")
      && [keys(output.permissions_boundaries), keys(output.github_roles)] == [["develop", "main", "release"], ["develop", "develop-plan", "main", "main-plan", "release", "release-plan"]]
    )
    error_message = "The boundary lacks ids, or an output a name."
  }
  assert {
    condition = (
      [aws_budgets_budget.monthly["account"].limit_amount, aws_budgets_budget.monthly["account"].time_unit] == ["10.5", "MONTHLY"]
      && { for entry in aws_budgets_budget.monthly["account"].notification : entry.notification_type => [entry.threshold, entry.comparison_operator, join(" ", entry.subscriber_email_addresses)] } == {
        ACTUAL = [80, "GREATER_THAN", "team@example.com"], FORECASTED = [100, "GREATER_THAN", "team@example.com"]
      }
    )
    error_message = "The budget mails at other costs."
  }
}

run "existing_provider" {
  command = plan

  variables { github = { repository = "octo/inquiries", existing_provider = true } }

  assert {
    condition     = [length(aws_iam_openid_connect_provider.github), length(aws_iam_role.github)] == [0, 6]
    error_message = "A second provider was created."
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
