# Its id is random, and only the state has it.
resource "terraform_data" "hash_key" {}

locals {
  hash_key = "key-${terraform_data.hash_key.id}"

  # Columns that mails to owners need: their language, and whether an address is verified.
  stored_for_mail = concat(
    ["language"],
    try(local.inbox.acknowledge, false) || try(local.replies.follow_ups, false) ? ["email_verified"] : [],
  )
}
