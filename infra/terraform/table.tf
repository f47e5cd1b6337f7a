# The keys of the entity in src/entities/inquiry.ts: partition by owner, sort by the inquiry's UUIDv7.
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

  # Reserved for a retention rule: nothing writes expires_at yet, so nothing expires.
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
