# Its id is random, and only the state has it.
resource "terraform_data" "hash_key" {}

locals {
  hash_key = "key-${terraform_data.hash_key.id}"

  # What mails to owners use: their language, and to whom they may go.
  stored_for_mail = concat(
    ["language"],
    try(local.inbox.acknowledge, false) || try(local.replies.follow_ups, false) ? ["email_verified"] : [],
  )
}
