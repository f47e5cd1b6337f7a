# The policies of operators are bootstrap's. Those of earlier commits are left in the account, because people may have them:
# docs/deploy.md says how to replace them.
removed {
  from = aws_iam_policy.inbox

  lifecycle {
    destroy = false
  }
}

removed {
  from = aws_iam_policy.inbox_answer

  lifecycle {
    destroy = false
  }
}
