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

  # src/limits.ts has the same for what the functions read (MAXIMA).
  maxima = {
    log_retention_days             = 3653
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
      "issuer must be an https URL without query or fragment" = local.settings.issuer == null || can(regex(local.issuer_pattern, local.settings.issuer))

      "audience must have at least one client id with an issuer, and is unset without one" = (
        local.settings.issuer == null ? local.settings.audience == null
        : try(length(local.settings.audience) > 0 && alltrue([for client in local.settings.audience : can(regex("^\\S+$", client))]), false)
      )

      "sign_up and totp are settings of the stage's own user pool; leave them out with an issuer" = (
        local.settings.issuer == null || (local.settings.sign_up && !local.settings.totp)
      )

      "cors_origin must be one origin as browsers send it: scheme://host[:port] in lower case, no *, path or trailing slash" = (
        local.settings.cors_origin == null || can(regex(local.origin_pattern, local.settings.cors_origin))
      )

      "cors_origin with the stage's own user pool must be https, or http on localhost, 127.0.0.1 or [::1], the only addresses to which Cognito returns" = (
        # botocore, cognito-idp: CallbackURLs.
        local.settings.issuer != null || local.settings.cors_origin == null
        || can(regex("^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:|$))", local.settings.cors_origin))
      )

      "site = false needs the cors_origin of the page that calls the API, and no site_domain" = (
        local.has_site || (local.settings.cors_origin != null && local.settings.site_domain == null)
      )

      "throttling must be at least 1, since the gateway answers every call with 429 at 0" = min(values(local.settings.throttling)...) >= 1

      "throttling.rate_limit must be at most ${local.index_units}, the inquiries a second that the index takes; warm_throughput allows up to 16000" = (
        local.settings.throttling.rate_limit <= local.index_units
      )

      "warm_throughput must be a whole number above 4000, which every table takes" = alltrue([
        for units in local.settings.warm_throughput[*] : units > 4000 && floor(units) == units
      ])

      "alarm_email must be an e-mail address" = local.settings.alarm_email == null || can(regex("^[^@\\s]+@[^@\\s]+$", local.settings.alarm_email))

      "alarm_topic_arns must be ARNs of SNS topics" = alltrue([for arn in local.settings.alarm_topic_arns : can(regex("^arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:", arn))])

      "alarm_topic_arns needs a topic of us-east-1, too, for the alarms of the form and of probe" = (
        length(local.settings.alarm_topic_arns) == 0 || !(local.settings.probe || local.has_site)
        || anytrue([for arn in local.settings.alarm_topic_arns : strcontains(arn, ":sns:us-east-1:")])
      )

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

      "form needs a form: leave it out with a cors_origin, or set site = true" = local.settings.form == null || local.has_site

      "domain and site_domain must be host names in lower case" = alltrue([for domain in local.set_domains : can(regex(local.domain_pattern, domain.name))])

      "site_domain.certificate_arn must be in us-east-1, the only region from which CloudFront takes certificates" = (
        try(local.settings.site_domain.certificate_arn, null) == null || can(regex("^arn:[a-z-]+:acm:us-east-1:", local.settings.site_domain.certificate_arn))
      )

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
