variable "stages" {
  description = <<-EOT
    Settings of each stage (develop, main, release); the selected workspace picks one. None is required: `{}` is a stage with
    a user pool and a contact form of its own.
      issuer                      Issuer of the tokens, an https URL equal to their `iss` claim byte for byte; unset: a Cognito
                                  user pool that the stage creates.
      audience                    Client ids accepted in `aud`, with `issuer` only, at least one. A form of the stage signs in
                                  as the first one.
      cors_origin                 The one origin browsers may call from, as they send it: scheme://host[:port]; unset: the
                                  address of the stage's own form.
      site                        Whether the stage serves the contact form from a bucket and CloudFront; by default without
                                  cors_origin or with site_domain.
      form                        How the stage's form looks, and what it says; all optional. `name` of the company; `logo`, a file in
                                  web/public; `accent`, a colour as #rrggbb; `home`, `privacy` and `imprint`, https addresses;
                                  `introduction` and `expectation` (what to expect after sending), texts by language
                                  ({ en = "…" }); `topics`, at most 12 such texts; `languages` that are offered, of en, de, fr,
                                  es, ja and ar, by default all. web/README.md
      hosted_zone                 Name of a public Route 53 zone of this account, in which the records of domain and
                                  site_domain are made; unset: they are entered by hand (output dns_records).
      domain                      Domain name of the API: `name`; `certificate_arn`, an ACM certificate of the same region,
                                  unset: one is requested; and, without hosted_zone, `dns`, the records that exist: "none",
                                  "certificate" (the one that validates the certificate) or "all" (also the one of the name);
                                  by default "none", with certificate_arn "certificate". With "all" the execute-api host is
                                  disabled. Unset: that host only.
      site_domain                 The same for the form; its certificate is in us-east-1. Unset: CloudFront's host only.
      log_retention_days          Days both log groups keep their events.
      deletion_protection_enabled Whether the tables refuse deletion; by default on main and release.
      pitr_days                   Days to which the tables can be restored, 1 to 35.
      retention_days              Days after which a new inquiry expires, 1 to 36,500; unset: never. Stored ones keep theirs.
      inbox                       Mail: new inquiries go to `to`, answers to their owner, both sent by SES from `from`, at most
                                  `mails_per_hour` about the inquiries of one owner. `identity` is an identity that SES has
                                  in this account and region, the address `from` or its domain; unset: the stage creates one
                                  for the domain. `language` is that of the mails to owners, by default en; mails to the team
                                  are in English. Unset: no mail, no stream.
      inquiries_per_hour          Inquiries that one owner may send in an hour before the function answers 429, 1 to 1,000; unset:
                                  any number.
      throttling                  Requests per second and burst the gateway lets through before it answers 429.
      reserved_concurrency        Reserved concurrency of the function; unset: the account's pool. 0 stops the function.
      alarm_email                 Address that alarms are mailed to; unset: no mail.
      table_kms_key_arn           Customer key of the tables; unset: a key owned by AWS. Its key policy must let the roles of the
                                  functions and of operators use it through DynamoDB (kms:ViaService), since the policies of
                                  this module have no KMS permission.
  EOT
  type = map(object({
    issuer      = optional(string)
    audience    = optional(list(string))
    cors_origin = optional(string)
    site        = optional(bool)
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
    hosted_zone = optional(string)
    domain = optional(object({
      name            = string
      certificate_arn = optional(string)
      dns             = optional(string)
    }))
    site_domain = optional(object({
      name            = string
      certificate_arn = optional(string)
      dns             = optional(string)
    }))
    log_retention_days          = optional(number, 30)
    deletion_protection_enabled = optional(bool)
    pitr_days                   = optional(number, 35)
    retention_days              = optional(number)
    inbox = optional(object({
      to             = string
      from           = string
      mails_per_hour = optional(number, 10)
      identity       = optional(string)
      language       = optional(string, "en")
    }))
    inquiries_per_hour = optional(number)
    throttling = optional(object({
      rate_limit  = number
      burst_limit = number
    }), { rate_limit = 100, burst_limit = 200 })
    reserved_concurrency = optional(number)
    alarm_email          = optional(string)
    table_kms_key_arn    = optional(string)
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
    condition     = length(setsubtract(keys(var.stages), local.stage_names)) == 0
    error_message = "Stages are develop, main and release; remove from stages: ${join(", ", setsubtract(keys(var.stages), local.stage_names))}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.issuer == null ? true : can(regex(local.issuer_pattern, stage.issuer))])
    error_message = "An issuer must be an https URL without query or fragment: ${join(", ", [for name, stage in var.stages : "${name} has \"${stage.issuer}\"" if stage.issuer == null ? false : !can(regex(local.issuer_pattern, stage.issuer))])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : (stage.issuer == null) == (stage.audience == null)])
    error_message = "An issuer needs an audience, and an audience its issuer; leave out both for a user pool of the stage: ${join(", ", [for name, stage in var.stages : name if(stage.issuer == null) != (stage.audience == null)])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.cors_origin == null ? true : can(regex(local.origin_pattern, stage.cors_origin))])
    error_message = "A cors_origin must be one origin as browsers send it, scheme://host[:port] in lower case, never *, no path and no trailing slash: ${join(", ", [for name, stage in var.stages : "${name} has \"${stage.cors_origin}\"" if stage.cors_origin == null ? false : !can(regex(local.origin_pattern, stage.cors_origin))])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : coalesce(stage.site, true) || (stage.cors_origin != null && stage.site_domain == null)])
    error_message = "A stage with site = false serves no form: it needs the cors_origin of the page that calls it, and has no site_domain: ${join(", ", [for name, stage in var.stages : name if !coalesce(stage.site, true) && (stage.cors_origin == null || stage.site_domain != null)])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.audience == null ? true : length(stage.audience) > 0 && alltrue([for client in stage.audience : can(regex("^\\S+$", client))])])
    error_message = "An audience needs at least one client id, none of them blank: ${join(", ", [for name, stage in var.stages : name if stage.audience == null ? false : length(stage.audience) == 0 || anytrue([for client in stage.audience : !can(regex("^\\S+$", client))])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : contains(local.log_retention_days, stage.log_retention_days)])
    error_message = "A log_retention_days must be a number CloudWatch Logs knows (${join(", ", local.log_retention_days)}): ${join(", ", [for name, stage in var.stages : "${name} has ${stage.log_retention_days}" if !contains(local.log_retention_days, stage.log_retention_days)])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : contains(range(1, 36), stage.pitr_days)])
    error_message = "A pitr_days must be a whole number from 1 to 35: ${join(", ", [for name, stage in var.stages : "${name} has ${stage.pitr_days}" if !contains(range(1, 36), stage.pitr_days)])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.retention_days == null ? true : stage.retention_days >= 1 && stage.retention_days <= 36500 && floor(stage.retention_days) == stage.retention_days])
    error_message = "A retention_days must be a whole number from 1 to 36500; leave it out to keep inquiries for ever: ${join(", ", [for name, stage in var.stages : "${name} has ${stage.retention_days}" if stage.retention_days == null ? false : stage.retention_days < 1 || stage.retention_days > 36500 || floor(stage.retention_days) != stage.retention_days])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for inbox in stage.inbox[*] : can(regex(local.address_pattern, inbox.to)) && can(regex(local.address_pattern, inbox.from))])])
    error_message = "An inbox needs two plain e-mail addresses, to and from, without names and with their domains in lower case: ${join(", ", [for name, stage in var.stages : name if anytrue([for inbox in stage.inbox[*] : !can(regex(local.address_pattern, inbox.to)) || !can(regex(local.address_pattern, inbox.from))])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for inbox in stage.inbox[*] : inbox.mails_per_hour >= 1 && inbox.mails_per_hour <= 1000 && floor(inbox.mails_per_hour) == inbox.mails_per_hour])])
    error_message = "An inbox's mails_per_hour must be a whole number from 1 to 1000; leave out inbox to send no mail: ${join(", ", [for name, stage in var.stages : "${name} has ${stage.inbox.mails_per_hour}" if anytrue([for inbox in stage.inbox[*] : inbox.mails_per_hour < 1 || inbox.mails_per_hour > 1000 || floor(inbox.mails_per_hour) != inbox.mails_per_hour])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for inbox in stage.inbox[*] : inbox.identity == null ? true : inbox.identity == inbox.from || can(regex("^[a-z0-9.-]+$", inbox.identity)) && (endswith(inbox.from, "@${inbox.identity}") || endswith(inbox.from, ".${inbox.identity}"))])])
    error_message = "An inbox's identity must be the address in from, or its domain or a parent of that; leave it out to create one: ${join(", ", [for name, stage in var.stages : "${name} has \"${stage.inbox.identity}\"" if anytrue([for inbox in stage.inbox[*] : inbox.identity == null ? false : inbox.identity != inbox.from && !(can(regex("^[a-z0-9.-]+$", inbox.identity)) && (endswith(inbox.from, "@${inbox.identity}") || endswith(inbox.from, ".${inbox.identity}")))])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for inbox in stage.inbox[*] : contains(local.languages, inbox.language)])])
    error_message = "An inbox's language must be one of ${join(", ", local.languages)}: ${join(", ", [for name, stage in var.stages : "${name} has \"${stage.inbox.language}\"" if anytrue([for inbox in stage.inbox[*] : !contains(local.languages, inbox.language)])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.form == null || coalesce(stage.site, stage.cors_origin == null || stage.site_domain != null)])
    error_message = "A stage with a cors_origin serves no form that its setting form could describe; leave out form, or set site = true: ${join(", ", [for name, stage in var.stages : name if stage.form != null && !coalesce(stage.site, stage.cors_origin == null || stage.site_domain != null)])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for form in stage.form[*] : form.accent == null ? true : can(regex("^#[0-9A-Fa-f]{6}$", form.accent))])])
    error_message = "A form's accent must be a colour as #rrggbb: ${join(", ", [for name, stage in var.stages : "${name} has \"${stage.form.accent}\"" if anytrue([for form in stage.form[*] : form.accent == null ? false : !can(regex("^#[0-9A-Fa-f]{6}$", form.accent))])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for form in stage.form[*] : alltrue([for url in [form.home, form.privacy, form.imprint] : url == null ? true : can(regex(local.link_pattern, url))])])])
    error_message = "A form's home, privacy and imprint must be https addresses: ${join(", ", [for name, stage in var.stages : name if anytrue([for form in stage.form[*] : anytrue([for url in [form.home, form.privacy, form.imprint] : url == null ? false : !can(regex(local.link_pattern, url))])])])}."
  }

  # The build copies web/public into the form.
  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for form in stage.form[*] : form.logo == null ? true : can(regex(local.logo_pattern, form.logo)) && try(fileexists("${path.module}/../../web/public/${form.logo}"), false)])])
    error_message = "A form's logo must be the name of an SVG, PNG, JPEG or WebP file in web/public: ${join(", ", [for name, stage in var.stages : "${name} has \"${stage.form.logo}\"" if anytrue([for form in stage.form[*] : form.logo == null ? false : !(can(regex(local.logo_pattern, form.logo)) && try(fileexists("${path.module}/../../web/public/${form.logo}"), false))])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for form in stage.form[*] : form.topics == null ? true : length(form.topics) <= 12])])
    error_message = "A form has at most 12 topics: ${join(", ", [for name, stage in var.stages : "${name} has ${length(stage.form.topics)}" if anytrue([for form in stage.form[*] : form.topics == null ? false : length(form.topics) > 12])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for form in stage.form[*] : form.languages == null ? true : length(form.languages) > 0 && length(distinct(form.languages)) == length(form.languages) && length(setsubtract(form.languages, local.languages)) == 0])])
    error_message = "A form's languages must be at least one of ${join(", ", local.languages)}, each once: ${join(", ", [for name, stage in var.stages : name if anytrue([for form in stage.form[*] : form.languages == null ? false : length(form.languages) == 0 || length(distinct(form.languages)) != length(form.languages) || length(setsubtract(form.languages, local.languages)) > 0])])}."
  }

  validation {
    condition = alltrue([for stage in values(var.stages) : alltrue([for form in stage.form[*] : alltrue([
      for texts in concat([for texts in [form.introduction, form.expectation] : texts if texts != null], coalesce(form.topics, [])) :
      length(texts) > 0 && alltrue([for language, text in texts : contains(local.languages, language) && trimspace(text) != ""])
    ])])])
    error_message = "A form's introduction, expectation and topics must be texts by language (${join(", ", local.languages)}), none of them empty: ${join(", ", [for name, stage in var.stages : name if anytrue([for form in stage.form[*] : anytrue([
      for texts in concat([for texts in [form.introduction, form.expectation] : texts if texts != null], coalesce(form.topics, [])) :
      length(texts) == 0 || anytrue([for language, text in texts : !contains(local.languages, language) || trimspace(text) == ""])
    ])])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for form in stage.form[*] : form.name == null ? true : trimspace(form.name) != ""])])
    error_message = "A form's name must not be empty; leave it out for none: ${join(", ", [for name, stage in var.stages : name if anytrue([for form in stage.form[*] : form.name == null ? false : trimspace(form.name) == ""])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.inquiries_per_hour == null ? true : stage.inquiries_per_hour >= 1 && stage.inquiries_per_hour <= 1000 && floor(stage.inquiries_per_hour) == stage.inquiries_per_hour])
    error_message = "An inquiries_per_hour must be a whole number from 1 to 1000; leave it out for no limit: ${join(", ", [for name, stage in var.stages : "${name} has ${stage.inquiries_per_hour}" if stage.inquiries_per_hour == null ? false : stage.inquiries_per_hour < 1 || stage.inquiries_per_hour > 1000 || floor(stage.inquiries_per_hour) != stage.inquiries_per_hour])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.throttling.rate_limit >= 1 && stage.throttling.burst_limit >= 1])
    error_message = "Both throttling limits must be at least 1, since 0 answers every call with 429: ${join(", ", [for name, stage in var.stages : name if stage.throttling.rate_limit < 1 || stage.throttling.burst_limit < 1])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.reserved_concurrency == null ? true : stage.reserved_concurrency >= 0])
    error_message = "A reserved_concurrency must not be negative; leave it out to use the account's pool: ${join(", ", [for name, stage in var.stages : name if stage.reserved_concurrency == null ? false : stage.reserved_concurrency < 0])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.alarm_email == null ? true : can(regex("^[^@\\s]+@[^@\\s]+$", stage.alarm_email))])
    error_message = "An alarm_email must be an e-mail address: ${join(", ", [for name, stage in var.stages : name if stage.alarm_email == null ? false : !can(regex("^[^@\\s]+@[^@\\s]+$", stage.alarm_email))])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : stage.table_kms_key_arn == null ? true : can(regex("^arn:[a-z-]+:kms:", stage.table_kms_key_arn))])
    error_message = "A table_kms_key_arn must be the ARN of a KMS key: ${join(", ", [for name, stage in var.stages : name if stage.table_kms_key_arn == null ? false : !can(regex("^arn:[a-z-]+:kms:", stage.table_kms_key_arn))])}."
  }

  validation {
    condition = alltrue([for stage in values(var.stages) : alltrue([
      for domain in concat(stage.domain[*], stage.site_domain[*]) :
      can(regex(local.domain_pattern, domain.name)) && (domain.certificate_arn == null ? true : can(regex("^arn:[a-z-]+:acm:", domain.certificate_arn)))
    ])])
    error_message = "A domain needs a host name in lower case, and a certificate_arn must be the ARN of an ACM certificate: ${join(", ", [for name, stage in var.stages : name if anytrue([
      for domain in concat(stage.domain[*], stage.site_domain[*]) :
      !can(regex(local.domain_pattern, domain.name)) || (domain.certificate_arn == null ? false : !can(regex("^arn:[a-z-]+:acm:", domain.certificate_arn)))
    ])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : alltrue([for domain in stage.site_domain[*] : domain.certificate_arn == null ? true : can(regex("^arn:[a-z-]+:acm:us-east-1:", domain.certificate_arn))])])
    error_message = "The certificate of a site_domain must be in us-east-1, the only region from which CloudFront takes them: ${join(", ", [for name, stage in var.stages : name if anytrue([for domain in stage.site_domain[*] : domain.certificate_arn == null ? false : !can(regex("^arn:[a-z-]+:acm:us-east-1:", domain.certificate_arn))])])}."
  }

  validation {
    condition = alltrue([for stage in values(var.stages) : alltrue([
      for domain in concat(stage.domain[*], stage.site_domain[*]) :
      domain.dns == null ? true : stage.hosted_zone == null && contains(domain.certificate_arn == null ? ["none", "certificate", "all"] : ["certificate", "all"], domain.dns)
    ])])
    error_message = "A dns is \"none\", \"certificate\" or \"all\", not \"none\" with certificate_arn, and not set with hosted_zone: ${join(", ", [for name, stage in var.stages : name if anytrue([
      for domain in concat(stage.domain[*], stage.site_domain[*]) :
      domain.dns == null ? false : stage.hosted_zone != null || !contains(domain.certificate_arn == null ? ["none", "certificate", "all"] : ["certificate", "all"], domain.dns)
    ])])}."
  }

  validation {
    condition = alltrue([for stage in values(var.stages) : stage.hosted_zone == null ? true : alltrue([
      for domain in concat(stage.domain[*], stage.site_domain[*]) : domain.name == stage.hosted_zone || endswith(domain.name, ".${stage.hosted_zone}")
    ])])
    error_message = "A domain and a site_domain must be in the hosted_zone: ${join(", ", [for name, stage in var.stages : name if stage.hosted_zone == null ? false : anytrue([
      for domain in concat(stage.domain[*], stage.site_domain[*]) : domain.name != stage.hosted_zone && !endswith(domain.name, ".${stage.hosted_zone}")
    ])])}."
  }

  validation {
    condition     = alltrue([for stage in values(var.stages) : try(stage.domain.name != stage.site_domain.name, true)])
    error_message = "The domain of the API and the site_domain of the form must be two names: ${join(", ", [for name, stage in var.stages : name if !try(stage.domain.name != stage.site_domain.name, true)])}."
  }
}

variable "region" {
  description = "AWS region to deploy to; unset: the one of the environment (AWS_REGION or the profile's)."
  type        = string
  default     = null
}

variable "name" {
  description = "Name of the service; every resource is called NAME-STAGE."
  type        = string
  default     = "inquiries"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,31}$", var.name))
    error_message = "A name is 2 to 32 lower-case letters, digits and hyphens and begins with a letter, not \"${var.name}\"."
  }
}

variable "package_file" {
  description = "The function's zip, relative to this folder; `npm run build` writes it, byte-identical for the same sources."
  type        = string
  default     = "../../dist/inquiries.zip"
  nullable    = false

  validation {
    condition     = fileexists("${path.module}/${var.package_file}")
    error_message = "There is no ${var.package_file}: run \"npm run build\" first."
  }
}

variable "mailer_package_file" {
  description = "The mailer's zip, relative to this folder; `npm run build` writes it, byte-identical for the same sources."
  type        = string
  default     = "../../dist/mailer.zip"
  nullable    = false

  validation {
    condition     = fileexists("${path.module}/${var.mailer_package_file}")
    error_message = "There is no ${var.mailer_package_file}: run \"npm run build\" first."
  }
}

variable "runtime" {
  description = "The functions' runtime. AWS providers before 6.21 know runtimes up to nodejs22.x only and refuse the default."
  type        = string
  default     = "nodejs24.x"
  nullable    = false

  validation {
    condition     = can(regex("^nodejs(2[2-9]|[3-9][0-9])\\.x$", var.runtime))
    error_message = "A runtime is Node.js 22 or later, such as nodejs24.x, not \"${var.runtime}\"."
  }
}

variable "permissions_boundaries" {
  description = "Permissions boundary (ARN of a policy) of the roles of each stage; `npm run bootstrap` writes it. Unset: none."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "shift" {
  description = "Keeps the alias at `version` and gives the new version the share `weight` of the requests, for `npm run deploy -- STAGE --gradual MINUTES`; unset: the new version gets all."
  type = object({
    version = string
    weight  = number
  })
  default = null

  validation {
    condition     = var.shift == null ? true : can(regex("^[1-9][0-9]*$", var.shift.version)) && var.shift.weight > 0 && var.shift.weight < 1
    error_message = "A shift needs the number of a version and a weight between 0 and 1."
  }
}
