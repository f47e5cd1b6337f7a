variable "name" {
  description = "Name of the service, the same as in the stages' module."
  type        = string
  default     = "inquiries"
  nullable    = false

  validation {
    condition = (
      can(regex(local.service.name.pattern, var.name)) && !can(regex(local.service.name.refused, var.name))
    )
    error_message = "${local.service.name.rule}, not \"${var.name}\"."
  }
}

variable "region" {
  description = "AWS region of the bucket; unset: that of the environment."
  type        = string
  default     = null
}

variable "bucket" {
  description = "Name of the bucket of the state."
  type        = string
  nullable    = false
}

variable "github" {
  description = "The repository whose workflows deploy; unset: no identity provider and no roles."
  type = object({
    repository = string # OWNER/NAME

    # Numeric ids of owner and repository, both or neither. Without them only subjects without ids count.
    owner_id      = optional(string)
    repository_id = optional(string)

    existing_provider = optional(bool, false)
  })
  default = null

  # A wildcard would let workflows of other repositories deploy.
  validation {
    condition     = var.github == null ? true : can(regex("^[A-Za-z0-9-]+/[\\w.-]+$", var.github.repository))
    error_message = "github.repository is OWNER/NAME."
  }
  validation {
    condition = var.github == null ? true : (
      var.github.owner_id == null && var.github.repository_id == null
      || can(regex("^\\d+/\\d+$", "${var.github.owner_id}/${var.github.repository_id}"))
    )
    error_message = "github.owner_id and github.repository_id are numbers: both or neither."
  }
}

variable "domains" {
  description = "Domain names that the roles of each stage may set up."
  type        = map(list(string))
  default     = {}
  nullable    = false

  validation {
    condition     = length(setsubtract(keys(var.domains), local.stages)) == 0
    error_message = "Domains are listed for the stages develop, main and release."
  }
  validation {
    condition = alltrue([
      for name in flatten(values(var.domains)) : can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", name))
    ])
    error_message = "A domain is a name such as api.example.com, without a wildcard."
  }
}

variable "receives_mail" {
  description = "Whether stages take answers by mail: then the active receipt rule set of SES is this module's."
  type        = bool
  default     = false
  nullable    = false
}

variable "budget" {
  description = "Costs of the account in a month above which a mail is sent; unset: no mail."
  type        = object({ monthly_usd = number, email = string })
  default     = null

  validation {
    condition = var.budget == null ? true : (
      var.budget.monthly_usd > 0 && can(regex("^[^@\\s]+@[^@\\s]+$", var.budget.email))
    )
    error_message = "A budget is a sum above 0 and an e-mail address."
  }
}

variable "audit" {
  description = "Stages of which CloudTrail writes who read or changed what in tables and received mails, and the days that this is kept; unset: no trail."
  type        = object({ stages = set(string), days = optional(number, 365) })
  default     = null

  validation {
    condition     = var.audit == null ? true : length(setsubtract(var.audit.stages, local.stages)) == 0 && var.audit.days >= 1
    error_message = "audit has stages among develop, main and release, and days of 1 or more."
  }
}
