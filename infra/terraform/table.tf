# The keys of src/entities/inquiry.ts; a change of them would replace the table.
resource "aws_dynamodb_table" "this" {
  name         = local.name
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"
  range_key    = "sk"

  deletion_protection_enabled = local.deletion_protection_enabled

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  attribute {
    name = "inbox"
    type = "S"
  }

  attribute {
    name = "id"
    type = "S"
  }

  # As in local/database/table.ts. docs/adr/0081. Under a new name, Terraform creates an index before it deletes one.
  # From 6.29 on, hash_key and range_key are deprecated for key_schema, which 5.100 does not know.
  global_secondary_index {
    name               = "by-state"
    hash_key           = "inbox"
    range_key          = "id"
    projection_type    = "INCLUDE"
    non_key_attributes = ["cognito_sub", "email", "created_at", "reply_at", "respondent", "expires_at"]
  }

  # The mailer reads the stream (docs/adr/0080).
  stream_enabled   = local.inbox != null
  stream_view_type = local.inbox == null ? null : "NEW_AND_OLD_IMAGES"

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = local.settings.pitr_days
  }

  # On inquiries with retention_days (docs/adr/0084), delivery records, keys and counts.
  ttl {
    attribute_name = "expires_at"
    enabled        = true
  }

  dynamic "server_side_encryption" {
    for_each = local.settings.table_kms_key_arn[*]

    content {
      enabled     = true
      kms_key_arn = server_side_encryption.value
    }
  }
}

# The provider's own warm_throughput replaces the table once AWS has raised it. docs/adr/0020
resource "terraform_data" "warm_throughput" {
  for_each = toset([for units in local.settings.warm_throughput[*] : tostring(units)])

  triggers_replace = jsonencode({
    TableName      = aws_dynamodb_table.this.name
    WarmThroughput = { WriteUnitsPerSecond = tonumber(each.key) }
    GlobalSecondaryIndexUpdates = [
      for index in aws_dynamodb_table.this.global_secondary_index : {
        Update = { IndexName = index.name, WarmThroughput = { WriteUnitsPerSecond = tonumber(each.key) } }
      }
    ]
  })

  provisioner "local-exec" {
    command     = "aws dynamodb update-table --region ${local.region} --cli-input-json \"$UPDATE\""
    environment = { UPDATE = self.triggers_replace }
  }
}

# This table is not restored with the inquiries (docs/adr/0084).
resource "aws_dynamodb_table" "erasures" {
  name         = "${local.name}-erasures"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "hash"

  deletion_protection_enabled = local.deletion_protection_enabled

  tags = merge(
    { user_pool = local.has_user_pool ? module.identity[0].pool.id : "none" },
    { for bucket in flatten(module.mailer[*].mail_buckets) : "mail_bucket" => bucket },
  )

  attribute {
    name = "hash"
    type = "S"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = local.settings.pitr_days
  }

  dynamic "server_side_encryption" {
    for_each = local.settings.table_kms_key_arn[*]

    content {
      enabled     = true
      kms_key_arn = server_side_encryption.value
    }
  }
}
