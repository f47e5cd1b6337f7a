output "permissions_boundaries" {
  description = "ARN of the permissions boundary of each stage's roles; empty without GitHub."
  value       = { for stage in keys(aws_iam_policy.boundary) : stage => local.boundary_arns[stage] }
}

output "github_roles" {
  description = "ARN of the role for each GitHub environment, its secret AWS_ROLE_ARN; empty without GitHub."
  value = merge(
    { for stage, role in aws_iam_role.deploy : stage => role.arn },
    { for stage, role in aws_iam_role.plan : "${stage}-plan" => role.arn },
  )
}

output "inbox_policy_arns" {
  description = "Policies for operators: STAGE-inbox for every verb of npm run inbox, STAGE-inbox-answer for every verb but erase."
  value       = { for name, policy in aws_iam_policy.inbox : name => policy.arn }
}
