variable "stages" {
  description = "Settings of each stage; `{}` is a stage with a user pool and a contact form of its own."
  type = map(object({
    # Issuer of the tokens, an https URL equal to `iss` byte for byte; unset: a Cognito user pool of the stage. With it,
    # the client ids accepted in `aud`; the stage's form signs in as the first.
    issuer   = optional(string)
    audience = optional(list(string))

    # The one origin of browsers, as they send it: scheme://host[:port]; unset: the stage's own form.
    cors_origin = optional(string)

    # Whether the stage serves the contact form (web/README.md); by default without cors_origin or with site_domain.
    site = optional(bool)
    form = optional(object({
      name         = optional(string)
      logo         = optional(string)
      accent       = optional(string)
      home         = optional(string)
      privacy      = optional(string)
      imprint      = optional(string)
      introduction = optional(map(string))
      expectation  = optional(map(string))
      topics       = optional(list(map(string)))
      languages    = optional(list(string))
    }))

    # Whether requests for the form are logged, with the addresses of who sends them (docs/operations.md).
    form_log = optional(bool, false)

    # Domain names of API, form and inbox (with a team); unset: AWS's. `certificate_arn`: an ACM certificate of the same region, for the form
    # of us-east-1; unset: one is requested. `hosted_zone`: a public zone of this account for the records; unset: they
    # are entered by hand, and `dns` says which exist: "none" (default), "certificate" (default with certificate_arn) or
    # "all", which disables the execute-api host (docs/deploy.md).
    hosted_zone  = optional(string)
    domain       = optional(object({ name = string, certificate_arn = optional(string), dns = optional(string) }))
    site_domain  = optional(object({ name = string, certificate_arn = optional(string), dns = optional(string) }))
    inbox_domain = optional(object({ name = string, certificate_arn = optional(string), dns = optional(string) }))

    # Whether users may sign up in the stage's user pool and use an authenticator app (docs/deploy.md).
    sign_up = optional(bool, true)
    totp    = optional(bool, false)

    # Days: of log events; to which the tables can be restored, 1 to 35; until a new inquiry expires, 1 to 36,500, unset:
    # never, which release has to write out as null.
    log_retention_days = optional(number, 30)
    pitr_days          = optional(number, 35)
    retention_days     = optional(number)

    # Whether tables and user pool refuse deletion; by default on main and release.
    deletion_protection_enabled = optional(bool)

    # Mail by SES (docs/deploy.md); unset: none, and no stream.
    inbox = optional(object({
      to   = optional(string) # new inquiries; unset, with team only: no mail
      from = optional(string) # sender, also of answers to owners

      # Addresses of who answers in the stage's own page (docs/inbox.md); none: no page.
      team = optional(list(string), [])

      # An identity of SES in this account and region, the address `from` or its domain; unset: one is created for the
      # domain.
      identity = optional(string)

      # Most mails in an hour about the inquiries of one person, and of all.
      mails_per_hour       = optional(number, 10)
      total_mails_per_hour = optional(number, 100)

      # Batches of new inquiries at a time for each shard of the stream, 1 to 10.
      parallelization_factor = optional(number, 1)

      language      = optional(string, "en")  # for owners whose inquiry names none
      time_zone     = optional(string, "UTC") # for times in mails
      acknowledge   = optional(bool, false)   # owners get a mail when their inquiry has arrived
      requires_tls  = optional(bool, false)   # no mail goes to an owner whose server takes no TLS; the team's always needs it
      links_only    = optional(bool, false)   # mails to the team have a link to the stage's own page, no texts
      answer_within = optional(number)        # days after which a daily mail names unanswered inquiries; unset: none
      pool_mail     = optional(bool, true)    # false: Cognito sends the mails of the user pool, 50 a day

      # Answers by mail (docs/adr/0085); unset: the service takes no mail.
      replies = optional(object({
        domain     = string                # for the addresses of answers; receives nothing else
        from       = list(string)          # who may answer: addresses, or domains such as "@example.com"
        follow_ups = optional(bool, false) # the owner's next mail becomes an inquiry
        files      = optional(bool, true)  # documents and pictures are sent on, up to 7 MB a mail
      }))
    }))

    # Inquiries of one person in an hour before the function answers 429, 1 to 1,000; unset: any number.
    inquiries_per_hour = optional(number)

    # Requests per second and burst before the gateway answers 429.
    throttling = optional(object({ rate_limit = number, burst_limit = number }), {
      rate_limit  = 100
      burst_limit = 200
    })

    # Write units a second of table and index from the first second on, at least 4,001, by the AWS CLI; unset: 4,000
    # (docs/operations.md).
    warm_throughput = optional(number)

    # Reserved concurrency of the function; unset: the account's pool; 0 stops it.
    reserved_concurrency = optional(number)

    # Whether X-Ray traces the functions. Whether there is a dashboard, and Route 53 asks every 30 seconds for the form,
    # the issuer and the sign-in page; by default on main and release.
    tracing       = optional(bool, false)
    dashboard     = optional(bool)
    health_checks = optional(bool)

    # Address of alarms, and SNS topics that page somebody: one of the stage's region, and with health_checks or a
    # site_domain one of us-east-1. What a stranger or one user can raise is mailed only.
    alarm_email      = optional(string)
    alarm_topic_arns = optional(list(string), [])

    # Customer key of the tables; unset: AWS's. Its policy must let the roles of functions and operators use it through
    # DynamoDB (kms:ViaService).
    table_kms_key_arn = optional(string)
  }))
  default  = {}
  nullable = false

  validation {
    condition = contains(keys(var.stages), terraform.workspace) && contains(local.stage_names, terraform.workspace)
    error_message = (
      contains(local.stage_names, terraform.workspace)
      ? "Stage \"${terraform.workspace}\" has no settings: copy stages.auto.tfvars.example to stages.auto.tfvars and fill in its entry."
      : "Workspace \"${terraform.workspace}\" is not a stage: run \"terraform workspace select -or-create develop\" (or main, or release)."
    )
  }

  validation {
    condition = length(setsubtract(keys(var.stages), local.stage_names)) == 0
    error_message = format(
      "Stages are develop, main and release; remove from stages: %s.",
      join(", ", setsubtract(keys(var.stages), local.stage_names)),
    )
  }
}

variable "region" {
  description = "AWS region; unset: that of the environment."
  type        = string
  default     = null
}

variable "name" {
  description = "Name of the service; every resource is called NAME-STAGE."
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

variable "permissions_boundaries" {
  description = "Permissions boundary of the roles of each stage; `npm run bootstrap` writes it."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "live_version" {
  description = "Version of the function that answers users; unset: the newest."
  type        = string
  default     = null

  validation {
    condition     = var.live_version == null || can(regex("^[1-9][0-9]*$", var.live_version))
    error_message = "live_version is the number of a published version, such as \"7\"."
  }
}

variable "live_inbox_version" {
  description = "The same of the inbox's function."
  type        = string
  default     = null
}

variable "live_mailer_versions" {
  description = "The same of the mailer's functions."
  type        = object({ inquiries = optional(string), replies = optional(string), received = optional(string) })
  default     = {}
  nullable    = false
}
