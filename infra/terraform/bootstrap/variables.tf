variable "name" {
  description = "Name of the service, the same as in the stages' module."
  type        = string
  default     = "inquiries"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,33}$", var.name))
    error_message = "A name is 2 to 34 lower-case letters, digits and hyphens and begins with a letter, not \"${var.name}\"."
  }

  # Otherwise `inquiries-main-*`, the names of a stage of `inquiries`, would match all resources of a service
  # `inquiries-main`.
  validation {
    condition     = !can(regex("-(develop|main|release)(-|$)", var.name))
    error_message = "A name must not contain -develop, -main or -release, which separate stages: \"${var.name}\"."
  }
}

variable "region" {
  description = "AWS region of the bucket; unset: the one of the environment (AWS_REGION or the profile's)."
  type        = string
  default     = null
}

variable "bucket" {
  description = "Name of the bucket of the state; `npm run bootstrap` sets NAME-terraform-state-ACCOUNT-REGION by default."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", var.bucket))
    error_message = "A bucket's name is 3 to 63 lower-case letters, digits and hyphens; set \"bucket\" to a shorter name than \"${var.bucket}\"."
  }
}

variable "github" {
  description = <<-EOT
    The repository whose workflows deploy; unset: no identity provider and no roles.
      repository         OWNER/NAME
      owner_id           Numeric id of the owner, and
      repository_id      of the repository: both or neither. Without them only subjects without ids are trusted.
      existing_provider  Whether the account has the provider of token.actions.githubusercontent.com already.
  EOT
  type = object({
    repository        = string
    owner_id          = optional(string)
    repository_id     = optional(string)
    existing_provider = optional(bool, false)
  })
  default = null

  validation {
    condition     = var.github == null ? true : can(regex("^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$", var.github.repository))
    error_message = "A repository is OWNER/NAME, without wildcards."
  }

  validation {
    condition     = var.github == null ? true : (var.github.owner_id == null) == (var.github.repository_id == null)
    error_message = "Give both owner_id and repository_id, or neither."
  }

  validation {
    condition     = var.github == null ? true : alltrue([for id in [var.github.owner_id, var.github.repository_id] : can(regex("^[0-9]+$", id)) if id != null])
    error_message = "An owner_id and a repository_id are numbers."
  }
}

variable "domains" {
  description = "Domain names that the roles of each stage may set up, in API Gateway and with their Route 53 records. No others."
  type        = map(list(string))
  default     = {}
  nullable    = false

  validation {
    condition     = length(setsubtract(keys(var.domains), local.stages)) == 0
    error_message = "Domains belong to develop, main or release."
  }

  validation {
    condition     = alltrue([for name in flatten(values(var.domains)) : can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", name))])
    error_message = "A domain is a host name in lower case, without wildcards."
  }
}

variable "budget" {
  description = "Costs of the account in a month (US dollars) above which a mail is sent; unset: no mail."
  type = object({
    monthly_usd = number
    email       = string
  })
  default = null

  validation {
    condition     = var.budget == null ? true : var.budget.monthly_usd > 0 && can(regex("^[^@\\s]+@[^@\\s]+$", var.budget.email))
    error_message = "A budget needs a sum above 0 and an e-mail address."
  }
}
