# The rules for the settings of the selected stage. Each is true if they keep it, and its key is the message
# if not. What is in `form` is checked by `npm run deploy`, as the form itself does (web/src/config.ts).
locals {
  issuer_pattern = "^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[^?#\\s]*)?$"
  origin_pattern = "^https?://([a-z0-9-]+(\\.[a-z0-9-]+)*|\\[[0-9a-f:]+\\])(:[0-9]+)?$"

  # The files of web/src/languages.
  languages = ["en", "de", "fr", "es", "ja", "ar"]

  domain_pattern = "^[a-z0-9-]+(\\.[a-z0-9-]+)+$"

  # A dot-atom and a domain name in lower case, as src/mailer/text.ts takes them.
  address_pattern = "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"

  # The retention periods that the CloudWatch Logs API accepts.
  log_retention_days = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653]

  # src/limits.ts has the same for what the functions read (MAXIMA).
  maxima = {
    pitr_days                      = 35
    retention_days                 = 36500
    inquiries_per_hour             = 1000
    "inbox.mails_per_hour"         = 1000
    "inbox.total_mails_per_hour"   = 1000
    "inbox.answer_within"          = 365
    "inbox.parallelization_factor" = 10
  }
  numbers = {
    for name in keys(local.maxima) : name => try(local.settings[name], local.settings.inbox[trimprefix(name, "inbox.")], null)
  }

  # Write units a second of the index by-state, which takes one for each inquiry: at first, and of its 16 keys at most.
  index_units = min(16000, coalesce(local.settings.warm_throughput, 4000))

  set_domains = concat(local.settings.domain[*], local.settings.site_domain[*])

  rules = merge(
    {
      for name, maximum in local.maxima : "${name} must be a whole number from 1 to ${maximum}" => (
        local.numbers[name] == null || try(local.numbers[name] >= 1 && local.numbers[name] <= maximum && floor(local.numbers[name]) == local.numbers[name], false)
      )
    },
    {
      "issuer must be an https URL without query or fragment" = alltrue([for url in local.settings.issuer[*] : can(regex(local.issuer_pattern, url))])

      "issuer and audience belong together; leave out both for a user pool of the stage" = (local.settings.issuer == null) == (local.settings.audience == null)

      "sign_up and totp are settings of the stage's own user pool; leave them out with an issuer" = (
        local.settings.issuer == null || (local.settings.sign_up && !local.settings.totp)
      )

      "audience must have at least one client id, none of them blank" = local.settings.audience == null || (
        try(length(local.settings.audience), 0) > 0 && alltrue([for client in coalesce(local.settings.audience, []) : can(regex("^\\S+$", client))])
      )

      "cors_origin must be one origin as browsers send it: scheme://host[:port] in lower case, no *, path or trailing slash" = alltrue([
        for origin in local.settings.cors_origin[*] : can(regex(local.origin_pattern, origin))
      ])

      "cors_origin with the stage's own user pool must be https, or http on localhost, 127.0.0.1 or [::1], the only addresses to which Cognito returns" = (
        # botocore, cognito-idp: CallbackURLs.
        local.settings.issuer != null || alltrue([
          for origin in local.settings.cors_origin[*] : can(regex("^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:|$))", origin))
        ])
      )

      "site = false needs the cors_origin of the page that calls the API, and no site_domain" = (
        coalesce(local.settings.site, true) || (local.settings.cors_origin != null && local.settings.site_domain == null)
      )

      "log_retention_days must be one of ${join(", ", local.log_retention_days)}" = contains(local.log_retention_days, local.settings.log_retention_days)

      "throttling.rate_limit and burst_limit must be at least 1, since 0 answers every call with 429" = min(values(local.settings.throttling)...) >= 1

      "throttling.rate_limit must be at most ${local.index_units}, the inquiries a second that the index takes; warm_throughput allows up to 16000" = (
        local.settings.throttling.rate_limit <= local.index_units
      )

      "warm_throughput must be a whole number above 4000, which every table takes" = alltrue([
        for units in local.settings.warm_throughput[*] : units > 4000 && floor(units) == units
      ])

      "reserved_concurrency must not be negative" = alltrue([for number in local.settings.reserved_concurrency[*] : number >= 0])

      "alarm_email must be an e-mail address" = alltrue([for address in local.settings.alarm_email[*] : can(regex("^[^@\\s]+@[^@\\s]+$", address))])

      "alarm_topic_arns must be ARNs of SNS topics" = alltrue([for arn in local.settings.alarm_topic_arns : can(regex("^arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:", arn))])

      "alarm_topic_arns needs a topic of us-east-1, too, for the alarms of the form and of probe" = (
        length(local.settings.alarm_topic_arns) == 0 || anytrue([for arn in local.settings.alarm_topic_arns : strcontains(arn, ":sns:us-east-1:")])
        || !(local.settings.probe || coalesce(local.settings.site, local.settings.cors_origin == null || local.settings.site_domain != null))
      )

      "table_kms_key_arn must be the ARN of a KMS key" = alltrue([for arn in local.settings.table_kms_key_arn[*] : can(regex("^arn:[a-z-]+:kms:", arn))])

      "inbox.to and from must be plain e-mail addresses, without names and with their domains in lower case" = alltrue([
        for inbox in local.settings.inbox[*] : can(regex(local.address_pattern, inbox.to)) && can(regex(local.address_pattern, inbox.from))
      ])

      "inbox.identity must be the address in from, or its domain or a parent of that" = alltrue(flatten([
        for inbox in local.settings.inbox[*] : [
          for identity in inbox.identity[*] : identity == inbox.from || can(regex("^[a-z0-9.-]+$", identity)) && (
            endswith(inbox.from, "@${identity}") || endswith(inbox.from, ".${identity}")
          )
        ]
      ]))

      "inbox.language must be one of ${join(", ", local.languages)}" = alltrue([for inbox in local.settings.inbox[*] : contains(local.languages, inbox.language)])

      "form needs a form: leave it out with a cors_origin, or set site = true" = (
        local.settings.form == null || coalesce(local.settings.site, local.settings.cors_origin == null || local.settings.site_domain != null)
      )

      "domain and site_domain need a host name in lower case, and as certificate_arn the ARN of an ACM certificate" = alltrue([
        for domain in local.set_domains :
        can(regex(local.domain_pattern, domain.name)) && alltrue([for arn in domain.certificate_arn[*] : can(regex("^arn:[a-z-]+:acm:", arn))])
      ])

      "site_domain.certificate_arn must be in us-east-1, the only region from which CloudFront takes certificates" = alltrue(flatten([
        for domain in local.settings.site_domain[*] : [for arn in domain.certificate_arn[*] : can(regex("^arn:[a-z-]+:acm:us-east-1:", arn))]
      ]))

      "dns must be \"none\", \"certificate\" or \"all\", not \"none\" with certificate_arn, and not set with hosted_zone" = alltrue(flatten([
        for domain in local.set_domains : [
          for dns in domain.dns[*] :
          local.settings.hosted_zone == null && contains(domain.certificate_arn == null ? ["none", "certificate", "all"] : ["certificate", "all"], dns)
        ]
      ]))

      "domain and site_domain must be in the hosted_zone" = alltrue(flatten([
        for zone in local.settings.hosted_zone[*] : [for domain in local.set_domains : domain.name == zone || endswith(domain.name, ".${zone}")]
      ]))

      "domain and site_domain must be two names" = length(distinct(local.set_domains[*].name)) == length(local.set_domains)
    },
  )
}

output "stage" {
  description = "The stage this workspace deploys."
  value       = local.stage

  precondition {
    condition     = alltrue(values(local.rules))
    error_message = join("\n", [for rule, is_kept in local.rules : "Stage ${local.stage}: ${rule}." if !is_kept])
  }
}
