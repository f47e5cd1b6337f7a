locals {
  package_file = "${path.module}/../../dist/inquiries.zip"

  # By the service's specification.
  timeout_seconds = 30
  memory_mb       = 128

  runtime = "nodejs24.x"

  # Shared by the functions.
  shared = {
    runtime              = local.runtime
    permissions_boundary = lookup(var.permissions_boundaries, local.stage, null)
    log_retention_days   = local.settings.log_retention_days
    versioned            = local.versioned
    # The node that `npm ci` installs.
    gate = "\"${abspath(path.root)}/../../node_modules/.bin/node\" \"${abspath(path.root)}/../../deploy/make-live.ts\""
    assume_role_policy = jsonencode({
      Version   = "2012-10-17"
      Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
    })
    # X-Ray has no resource types here.
    traces = local.settings.tracing ? {
      Action   = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
      Resource = "*"
    } : null
  }

  storing = {
    # Also for transactions of puts.
    Inquiries = { Action = ["dynamodb:PutItem", "dynamodb:Query"], Resource = aws_dynamodb_table.this.arn }
    # Partition keys of src/entities/rate.ts: the function cannot change an inquiry.
    Rates = local.settings.inquiries_per_hour == null ? null : {
      Action    = "dynamodb:UpdateItem"
      Resource  = aws_dynamodb_table.this.arn
      Condition = { "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = "$inquiries#owner_hour_*" } }
    }
    # AWS does not document whether LeadingKeys has the keys of a transaction's update only, or of all its writes.
    RatesInTransactions = local.settings.inquiries_per_hour == null ? null : {
      Action   = "dynamodb:UpdateItem"
      Resource = aws_dynamodb_table.this.arn
      Condition = {
        "ForAnyValue:StringLike"   = { "dynamodb:LeadingKeys" = "$inquiries#owner_hour_*" }
        "ForAnyValue:StringEquals" = { "dynamodb:EnclosingOperation" = "TransactWriteItems" }
      }
    }
  }
}

resource "aws_cloudwatch_log_group" "function" {
  name              = "/aws/lambda/${local.name}"
  retention_in_days = local.shared.log_retention_days
}

resource "aws_iam_role" "function" {
  name        = "${local.name}-function"
  description = "What the ${local.name} function may do: put and query inquiries, write its logs and traces."

  assume_role_policy   = local.shared.assume_role_policy
  permissions_boundary = local.shared.permissions_boundary
}

resource "aws_iam_role_policy" "function" {
  name = "function"
  role = aws_iam_role.function.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [for sid, statement in merge(local.storing, {
      Logs = {
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "${aws_cloudwatch_log_group.function.arn}:*"
      }
      Traces = local.shared.traces
    }) : merge({ Sid = sid, Effect = "Allow" }, statement) if statement != null]
  })
}

resource "aws_lambda_function" "this" {
  function_name = local.name
  description   = "Inquiry service, stage ${local.stage}: lists and creates the caller's inquiries."
  role          = aws_iam_role.function.arn

  filename         = local.package_file
  source_code_hash = filebase64sha256(local.package_file)
  handler          = "handler.handler"
  runtime          = local.shared.runtime
  architectures    = ["arm64"]
  memory_size      = local.memory_mb
  timeout          = local.timeout_seconds

  reserved_concurrent_executions = local.settings.reserved_concurrency

  environment {
    variables = { for name, value in {
      TABLE_NAME         = aws_dynamodb_table.this.name
      CORS_ORIGIN        = local.cors_origin
      RETENTION_DAYS     = local.settings.retention_days
      INQUIRIES_PER_HOUR = local.settings.inquiries_per_hour
    } : name => tostring(value) if value != null }
  }

  # The memory filter reads platform.report.
  logging_config {
    log_format            = "JSON"
    log_group             = aws_cloudwatch_log_group.function.name
    application_log_level = "INFO"
    system_log_level      = "INFO"
  }

  tracing_config { mode = local.settings.tracing ? "Active" : "PassThrough" }
}
