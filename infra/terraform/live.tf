# The gateway calls it. The gate below and rollback move it.
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
    # A withdrawn version is checked again before it is live.
    withdrawn = aws_lambda_alias.live.description
  }

  provisioner "local-exec" {
    command = local.shared.gate
    environment = {
      AWS_REGION = local.region
      FUNCTION   = aws_lambda_function.this.function_name
      PACKAGE    = aws_lambda_function.this.source_code_hash
      VERSION    = var.live_version
    }
  }

  # The checks need the permissions.
  depends_on = [aws_iam_role_policy.function]
}

locals {
  # The arguments of which each change needs a version.
  versioned = [
    "architectures", "description", "environment", "handler", "logging_config", "memory_size", "role", "runtime",
    "source_code_hash", "timeout", "tracing_config",
  ]
}
