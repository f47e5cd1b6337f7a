# Once per account; in a second region, set github.existing_provider. AWS checks GitHub's certificate without
# thumbprints.
resource "aws_iam_openid_connect_provider" "github" {
  count = try(var.github.existing_provider, true) ? 0 : 1

  url            = "https://token.actions.githubusercontent.com"
  client_id_list = ["sts.amazonaws.com"]
}

resource "aws_iam_policy" "this" {
  for_each = {
    for name, policy in local.policies : name => policy
    if can(regex(local.for_people, name)) || (var.github != null && !endswith(name, "-deploy"))
  }

  name        = "${var.name}-${each.key}-${local.region}"
  path        = local.path
  description = "See docs/roles.md."

  policy = jsonencode(each.value)
}

resource "aws_iam_role" "github" {
  for_each = local.roles

  name        = "${var.name}-${each.key}-${local.region}"
  path        = local.path
  description = "What workflows on GitHub may do."

  assume_role_policy   = jsonencode(each.value)
  permissions_boundary = local.own[split("-", each.key)[0]].boundary
  max_session_duration = 3600

  depends_on = [aws_iam_openid_connect_provider.github, aws_iam_policy.this]
}

resource "aws_iam_role_policy" "deploy" {
  for_each = { for name, trust in local.roles : name => trust if endswith(name, "-deploy") }

  name   = "deploy"
  role   = aws_iam_role.github[each.key].id
  policy = jsonencode(local.policies[each.key])
}

resource "aws_iam_role_policy_attachment" "read" {
  for_each = local.roles

  role       = aws_iam_role.github[each.key].id
  policy_arn = aws_iam_policy.this["${split("-", each.key)[0]}-read"].arn
}
