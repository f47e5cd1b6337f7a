# What `npm run inbox -- --stage STAGE` may do, for the permission sets, groups or roles of operators: one of the two policies
# is attached outside this module. The smaller one cannot delete. Neither reaches a restored table: whoever may restore one may
# replay the erasures in it.

locals {
  read_and_answer_statements = [for sid, statement in {
    # Lists through the index, then whole rows by their keys.
    Read = {
      Action   = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
      Resource = [aws_dynamodb_table.this.arn, "${aws_dynamodb_table.this.arn}/index/by-time"]
    }
    # The three columns of an answer. The keys are in the update's condition, and IAM does not distinguish what a condition
    # reads from what an update sets; DynamoDB itself refuses a change of the keys.
    Answer = {
      Action   = "dynamodb:UpdateItem"
      Resource = aws_dynamodb_table.this.arn
      Condition = {
        "ForAllValues:StringEquals" = {
          "dynamodb:Attributes" = ["pk", "sk", "reply", "respondent", "reply_at"]
        }
        "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = "$inquiries#cognito_sub_*" }
      }
    }
  } : merge({ Sid = sid, Effect = "Allow" }, statement)]

  erase_statements = [for sid, statement in {
    # BatchWriteItem deletes, but also puts: the condition allows no item with more than its keys.
    Erase = {
      Action    = "dynamodb:BatchWriteItem"
      Resource  = aws_dynamodb_table.this.arn
      Condition = { "ForAllValues:StringEquals" = { "dynamodb:Attributes" = ["pk", "sk"] } }
    }
    Erasures = {
      Action   = ["dynamodb:DescribeTable", "dynamodb:ListTagsOfResource", "dynamodb:PutItem", "dynamodb:Scan"]
      Resource = aws_dynamodb_table.erasures.arn
    }
    ReadErasureKey = {
      Action   = "ssm:GetParameter"
      Resource = local.erasure_key_arn
    }
    # The first erasure creates it; nobody may replace it: a replaced key makes all records useless.
    CreateErasureKey = {
      Action    = "ssm:PutParameter"
      Resource  = local.erasure_key_arn
      Condition = { StringNotEquals = { "ssm:Overwrite" = "true" } }
    }
  } : merge({ Sid = sid, Effect = "Allow" }, statement)]

  # The account of an erased user in the stage's own pool, which a tag of the table of erasures names.
  delete_account_statements = [
    for pool in aws_cognito_user_pool.this : {
      Sid      = "DeleteAccount"
      Effect   = "Allow"
      Action   = ["cognito-idp:AdminDeleteUser", "cognito-idp:ListUsers"]
      Resource = pool.arn
    }
  ]

  # Mails of inquiries again, by id (docs/runbook.md).
  send_again_statements = [
    for mailer in aws_lambda_function.mailer : {
      Sid      = "SendAgain"
      Effect   = "Allow"
      Action   = "lambda:InvokeFunction"
      Resource = mailer.arn
    }
  ]

  erasure_key_arn = "arn:${local.partition}:ssm:${local.region}:${local.account_id}:parameter/${local.name}/erasure-key"
}

resource "aws_iam_policy" "inbox" {
  name        = "${local.name}-inbox"
  description = "All verbs of npm run inbox in the stage ${local.stage}, and sending mails again."

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      local.read_and_answer_statements, local.erase_statements, local.delete_account_statements, local.send_again_statements,
    )
  })
}

resource "aws_iam_policy" "inbox_answer" {
  name        = "${local.name}-inbox-answer"
  description = "All verbs of npm run inbox but erase in the stage ${local.stage}."

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = local.read_and_answer_statements
  })
}
