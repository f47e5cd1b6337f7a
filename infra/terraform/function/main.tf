# A function with its log, its role, the alias that is invoked, and the gate that makes a version live.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

locals {
  runtime = "nodejs24.x"

  root = abspath("${path.module}/../../..")

  environment = { for name, value in var.environment : name => value if value != null }

  # A change of one of these arguments needs a new version.
  versioned = [
    "architectures", "description", "environment", "handler", "logging_config", "memory_size", "role", "runtime",
    "source_code_hash", "timeout", "tracing_config",
  ]

  statements = merge(var.statements, {
    Logs = {
      Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
      Resource = ["${aws_cloudwatch_log_group.this.arn}:*"]
    }
    # X-Ray has no resource types here.
    Traces = var.shared.tracing ? {
      Action   = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
      Resource = ["*"]
    } : null
    Stream = var.stream == null ? null : {
      Action = [
        "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams",
      ]
      Resource = [var.stream.arn]
    }
    DeadLetters = var.stream == null ? null : {
      Action   = ["sqs:SendMessage"]
      Resource = [var.stream.dead_letter_arn]
    }
    Queue = var.queue == null ? null : {
      Action   = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
      Resource = [var.queue.arn]
    }
  })
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/aws/lambda/${var.name}"
  retention_in_days = var.shared.log_retention_days
}

resource "aws_iam_role" "this" {
  name        = "${var.name}-function"
  description = "What the function ${var.name} may do."

  permissions_boundary = var.shared.permissions_boundary
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "this" {
  name = "function"
  role = aws_iam_role.this.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      for sid, statement in local.statements : merge(
        { Sid = sid, Effect = "Allow" },
        { for key, value in statement : key => value if value != null },
      ) if statement != null
    ]
  })
}

resource "aws_lambda_function" "this" {
  function_name = var.name
  description   = var.description
  role          = aws_iam_role.this.arn

  filename         = var.package_file
  source_code_hash = filebase64sha256(var.package_file)
  handler          = var.handler
  runtime          = local.runtime
  architectures    = ["arm64"]
  memory_size      = var.memory_mb
  timeout          = var.timeout_seconds

  reserved_concurrent_executions = var.reserved_concurrency

  environment { variables = local.environment }

  logging_config {
    log_format            = "JSON"
    log_group             = aws_cloudwatch_log_group.this.name
    application_log_level = "INFO"
    system_log_level      = "INFO"
  }

  tracing_config { mode = var.shared.tracing ? "Active" : "PassThrough" }

  lifecycle {
    precondition {
      # docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; base64 has 4 characters for 3 bytes.
      condition     = length(base64encode(jsonencode(local.environment))) * 3 / 4 <= 4096
      error_message = "The environment of ${var.name} is longer than 4 KB, the most that Lambda takes: shorten the texts of the setting form."
    }
  }
}

# Callers invoke this alias. The gate below and `npm run rollback` move it.
resource "aws_lambda_alias" "live" {
  name             = "live"
  function_name    = aws_lambda_function.this.function_name
  function_version = "$LATEST"
  description      = "Users get this version."

  lifecycle { ignore_changes = [description, function_version] }
}

# The gate: if it fails, Terraform taints this resource, so that the next apply runs it again. docs/adr/0025
resource "terraform_data" "live" {
  triggers_replace = {
    function = { for name, value in aws_lambda_function.this : name => value if contains(local.versioned, name) }
    pinned   = var.live_version
    # Only a new alias has an ARN that is not known yet.
    alias = aws_lambda_alias.live.arn
    # A withdrawn version is checked again before it is live (deploy/versions.ts).
    withdrawn = try(regex("[^ ]+ withdrawn at [^ ]+", aws_lambda_alias.live.description), "")
  }

  provisioner "local-exec" {
    command = "\"${local.root}/node_modules/.bin/node\" \"${local.root}/deploy/make-live.ts\""
    environment = {
      AWS_REGION = var.shared.region
      FUNCTION   = aws_lambda_function.this.function_name
      PACKAGE    = aws_lambda_function.this.source_code_hash
      VERSION    = var.live_version
    }
  }

  depends_on = [aws_iam_role_policy.this]
}

# What follows waits for the gate: nobody reaches the function before a version is live.

resource "aws_lambda_permission" "this" {
  for_each = var.callers

  statement_id  = each.key
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.this.function_name
  qualifier     = aws_lambda_alias.live.name
  principal     = each.value.principal
  source_arn    = each.value.source_arn

  depends_on = [terraform_data.live]
}

resource "aws_lambda_event_source_mapping" "stream" {
  count = var.stream == null ? 0 : 1

  event_source_arn = var.stream.arn
  function_name    = aws_lambda_alias.live.arn

  # The mapping begins with the oldest record, so that none is lost before it exists.
  starting_position      = "TRIM_HORIZON"
  batch_size             = 100
  parallelization_factor = var.stream.parallelization_factor

  # A failed record delays those behind it in its shard until it is too old.
  function_response_types        = ["ReportBatchItemFailures"]
  bisect_batch_on_function_error = true
  maximum_retry_attempts         = -1
  maximum_record_age_in_seconds  = var.stream.maximum_record_age_in_seconds

  filter_criteria {
    filter { pattern = var.stream.filter }
  }

  metrics_config { metrics = ["EventCount"] }

  destination_config {
    on_failure { destination_arn = var.stream.dead_letter_arn }
  }

  depends_on = [terraform_data.live]
}

resource "aws_lambda_event_source_mapping" "queue" {
  count = var.queue == null ? 0 : 1

  event_source_arn = var.queue.arn
  function_name    = aws_lambda_alias.live.arn
  batch_size       = 1

  dynamic "scaling_config" {
    for_each = var.queue.maximum_concurrency[*]

    content { maximum_concurrency = scaling_config.value }
  }

  depends_on = [terraform_data.live]
}

output "alias" {
  description = "What is invoked."
  value       = aws_lambda_alias.live
}

output "version" {
  description = "The function, the hash of its package, and the earlier version that live_version keeps."
  value = {
    name    = aws_lambda_function.this.function_name
    package = aws_lambda_function.this.source_code_hash
    pinned  = var.live_version
  }
}

output "log_group" {
  description = "Its log."
  value       = aws_cloudwatch_log_group.this
}

output "stream_mapping_uuid" {
  description = "Of how Lambda reads the stream; null without one."
  value       = one(aws_lambda_event_source_mapping.stream[*].uuid)
}
