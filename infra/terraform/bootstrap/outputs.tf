output "permissions_boundaries" {
  description = "Permissions boundary of each stage's roles; empty without GitHub."
  value       = { for stage, own in local.own : stage => own.boundary if var.github != null }
}

output "github_roles" {
  description = "Role for each GitHub environment, its secret AWS_ROLE_ARN; empty without GitHub."
  value       = { for name, role in aws_iam_role.github : trimsuffix(name, "-deploy") => role.arn }
}

output "policy_arns" {
  description = "Policies for people: STAGE-inbox for all verbs of npm run inbox, STAGE-inbox-answer for all but erase, STAGE-on-call for npm run ops."
  value       = { for name, policy in aws_iam_policy.this : name => policy.arn if can(regex(local.for_people, name)) }
}
