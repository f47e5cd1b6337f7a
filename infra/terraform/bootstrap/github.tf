locals {
  github_stages = var.github == null ? [] : local.stages
}

# Once per account; in a second region, set github.existing_provider. AWS checks GitHub's certificate without
# thumbprints.
resource "aws_iam_openid_connect_provider" "github" {
  count = try(var.github.existing_provider, true) ? 0 : 1

  url            = "https://token.actions.githubusercontent.com"
  client_id_list = ["sts.amazonaws.com"]
}

resource "aws_iam_policy" "boundary" {
  for_each = local.github_stages

  name        = "${var.name}-${each.key}-boundary-${local.region}"
  path        = local.path
  description = "The most that roles of the stage ${each.key} may do."

  policy = jsonencode(local.boundaries[each.key])
}

resource "aws_iam_role" "deploy" {
  for_each = local.github_stages

  name        = "${var.name}-${each.key}-deploy-${local.region}"
  path        = local.path
  description = "Deploys the stage ${each.key} from GitHub."

  assume_role_policy   = jsonencode(local.trust_policies.deploy[each.key])
  permissions_boundary = local.boundary_arns[each.key]
  max_session_duration = 3600

  depends_on = [aws_iam_openid_connect_provider.github, aws_iam_policy.boundary]
}

resource "aws_iam_role_policy" "deploy" {
  for_each = local.github_stages

  name   = "deploy"
  role   = aws_iam_role.deploy[each.key].id
  policy = jsonencode(local.deploy_policies[each.key])
}

resource "aws_iam_role" "plan" {
  for_each = local.github_stages

  name        = "${var.name}-${each.key}-plan-${local.region}"
  path        = local.path
  description = "Plans the stage ${each.key} from GitHub, and changes nothing."

  assume_role_policy   = jsonencode(local.trust_policies.plan[each.key])
  permissions_boundary = local.boundary_arns[each.key]
  max_session_duration = 3600

  depends_on = [aws_iam_openid_connect_provider.github, aws_iam_policy.boundary]
}

resource "aws_iam_policy" "read" {
  for_each = local.github_stages

  name        = "${var.name}-${each.key}-read-${local.region}"
  path        = local.path
  description = "Reads the configuration of the stage ${each.key}, not its data."

  policy = jsonencode(local.read_policies[each.key])
}

resource "aws_iam_role_policy_attachment" "deploy" {
  for_each = local.github_stages

  role       = aws_iam_role.deploy[each.key].id
  policy_arn = aws_iam_policy.read[each.key].arn
}

resource "aws_iam_role_policy_attachment" "plan" {
  for_each = local.github_stages

  role       = aws_iam_role.plan[each.key].id
  policy_arn = aws_iam_policy.read[each.key].arn
}
