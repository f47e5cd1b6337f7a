# The keys are those of the entity in src/entities: partition by owner, sort by the inquiry's UUIDv7.
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

  point_in_time_recovery {
    enabled = true
  }

  # Reserved: nothing writes expires_at today, so nothing expires. A retention rule can be introduced without
  # touching the table.
  ttl {
    attribute_name = "expires_at"
    enabled        = true
  }

  # Without the block DynamoDB encrypts with a key that AWS owns.
  dynamic "server_side_encryption" {
    for_each = local.settings.table_kms_key_arn[*]

    content {
      enabled     = true
      kms_key_arn = server_side_encryption.value
    }
  }
}
