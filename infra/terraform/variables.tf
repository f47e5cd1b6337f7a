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
      form                        How the stage's form looks, and what it says; every part is optional. web/README.md
      hosted_zone                 Name of a public Route 53 zone of this account, in which the records of domain and
                                  site_domain are made; unset: they are entered by hand (output dns_records).
      domain                      Domain name of the API: `name`; `certificate_arn`, an ACM certificate of the same region,
                                  unset: one is requested; and, without hosted_zone, `dns`, the records that exist: "none",
                                  "certificate" or "all" (docs/deploy.md); by default "none", with certificate_arn
                                  "certificate". With "all" the execute-api host is disabled. Unset: that host only.
      site_domain                 The same for the form; its certificate is in us-east-1. Unset: CloudFront's host only.
      sign_up                     Whether users may register themselves in the stage's user pool; false: only whom someone adds.
      totp                        Whether users of that pool may use an authenticator app as their second factor (docs/deploy.md).
      log_retention_days          Days both log groups keep their events.
      deletion_protection_enabled Whether the tables refuse deletion; by default on main and release.
      pitr_days                   Days to which the tables can be restored, 1 to 35.
      retention_days              Days after which a new inquiry expires, 1 to 36,500; unset: never. Stored ones keep theirs.
      inbox                       Mail (docs/deploy.md): new inquiries go to `to`, answers to their owner, both sent by SES from
                                  `from`, at most `mails_per_hour` about the inquiries of one person and `total_mails_per_hour`
                                  about those of all. `answer_within`: age in days from which unanswered ones are in a daily
                                  mail; unset: none. `parallelization_factor`: batches of new inquiries that are mailed at a
                                  time for each shard of the stream, 1 to 10. `identity`: an identity that SES has in this
                                  account and region, the address `from` or its domain; unset: the stage creates one for the
                                  domain. `language`: of mails to owners whose inquiry names none; mails to the team are in
                                  English. `acknowledge`: owners get a mail when their inquiry has arrived. `pool_mail = false`:
                                  Cognito sends the mails of the user pool, 50 a day, instead of SES. Unset: no mail, no stream.
      inquiries_per_hour          Inquiries that one person may send in an hour before the function answers 429, 1 to 1,000; unset:
                                  any number.
      throttling                  Requests per second and burst the gateway lets through before it answers 429.
      warm_throughput             Write units a second that table and index take from the first second on, at least 4,001, by the AWS
                                  CLI; unset: 4,000, and twice their peak from half hour to half hour (docs/operations.md).
      reserved_concurrency        Reserved concurrency of the function; unset: the account's pool. 0 stops the function.
      tracing                     Whether X-Ray traces both functions.
      probe                       Whether Route 53 calls the API every few seconds, at /probe, so that it is watched without
                                  traffic; without it, alarms see failed requests only.
      alarm_email                 Address that alarms are mailed to; unset: no mail.
      alarm_topic_arns            SNS topics of your own that page somebody: one of the stage's region, and with a form or probe
                                  one of us-east-1, since CloudWatch notifies topics of an alarm's own region only. What a
                                  stranger or one user can raise is mailed only.
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
    hosted_zone                 = optional(string)
    domain                      = optional(object({ name = string, certificate_arn = optional(string), dns = optional(string) }))
    site_domain                 = optional(object({ name = string, certificate_arn = optional(string), dns = optional(string) }))
    sign_up                     = optional(bool, true)
    totp                        = optional(bool, false)
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
      time_zone      = optional(string, "UTC")
      acknowledge    = optional(bool, false)
      pool_mail      = optional(bool, true)

      total_mails_per_hour   = optional(number, 100)
      answer_within          = optional(number)
      parallelization_factor = optional(number, 1)
    }))
    inquiries_per_hour   = optional(number)
    throttling           = optional(object({ rate_limit = number, burst_limit = number }), { rate_limit = 100, burst_limit = 200 })
    warm_throughput      = optional(number)
    reserved_concurrency = optional(number)
    tracing              = optional(bool, true)
    probe                = optional(bool, false)
    alarm_email          = optional(string)
    alarm_topic_arns     = optional(list(string), [])
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
    condition     = can(regex(local.service.name.pattern, var.name)) && !can(regex(local.service.name.refused, var.name))
    error_message = "${local.service.name.rule}, not \"${var.name}\"."
  }
}

variable "package_file" {
  description = "The function's zip, relative to this folder; `npm run build` writes it, byte-identical for the same sources."
  type        = string
  default     = "../../dist/inquiries.zip"
  nullable    = false
}

variable "mailer_package_file" {
  description = "The mailer's zip, relative to this folder; `npm run build` writes it, byte-identical for the same sources."
  type        = string
  default     = "../../dist/mailer.zip"
  nullable    = false
}

variable "permissions_boundaries" {
  description = "Permissions boundary (ARN of a policy) of the roles of each stage; `npm run bootstrap` writes it. Unset: none."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "live_version" {
  description = "Version of the function that answers users, such as \"7\": an earlier one, until this is unset again. Unset: the newest."
  type        = string
  default     = null

  validation {
    condition     = var.live_version == null || can(regex("^[1-9][0-9]*$", var.live_version))
    error_message = "live_version is the number of a published version, such as \"7\"."
  }
}

variable "live_mailer_versions" {
  description = "The same for the functions of the mailer: `inquiries`, `replies`."
  type        = object({ inquiries = optional(string), replies = optional(string) })
  default     = {}
  nullable    = false
}
