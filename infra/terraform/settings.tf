# Rules for the selected stage's settings, by message. No `validation` of the variable, which cannot use locals that
# read it (a cycle). `npm run deploy` checks `form` (web/src/config.ts).
locals {
  languages = keys(jsondecode(file("${path.module}/../../text/languages.json")))

  # The maxima are AWS's, or are checked by the functions.
  maxima = merge(
    { log_retention_days = 3653, pitr_days = 35, "inbox.parallelization_factor" = 10 },
    {
      for name, maximum in jsondecode(file("${path.module}/../../src/maxima.json")) :
      "${contains(keys(local.settings), lower(name)) ? "" : "inbox."}${lower(name)}" => maximum
    },
  )

  # Write units a second of the index, one for each inquiry: at first, and of its 16 keys at most.
  index_units = min(16000, coalesce(local.settings.warm_throughput, 4000))

  set_domains = flatten([for setting in values(local.domain_settings) : local.settings[setting][*]])

  patterns = {
    "issuer must be an https URL without query or fragment" = {
      values  = local.settings.issuer[*]
      pattern = "^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[^?#\\s]*)?$"
    }

    "cors_origin must be one origin as browsers send it: scheme://host[:port] in lower case, no *, path or trailing slash" = {
      values  = local.settings.cors_origin[*]
      pattern = "^https?://([a-z0-9-]+(\\.[a-z0-9-]+)*|\\[[0-9a-f:]+\\])(:[0-9]+)?$"
    }

    # botocore, cognito-idp: CallbackURLs.
    "cors_origin with the stage's own user pool must be https, or http on localhost, 127.0.0.1 or [::1], the only addresses to which Cognito returns" = {
      values  = [for origin in local.settings.cors_origin[*] : origin if local.settings.issuer == null]
      pattern = "^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:|$))"
    }

    "alarm_email must be an e-mail address" = {
      values  = local.settings.alarm_email[*]
      pattern = "^[^@\\s]+@[^@\\s]+$"
    }

    "alarm_topic_arns must be ARNs of SNS topics" = {
      values  = local.settings.alarm_topic_arns
      pattern = "^arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:"
    }

    # As text/mailbox.ts takes them, with the domain in lower case.
    "inbox.to and from must be plain e-mail addresses, without names and with their domains in lower case" = {
      values  = concat(local.inbox[*].to, local.inbox[*].from)
      pattern = "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
    }

    "inbox.team must be plain e-mail addresses in lower case" = {
      values  = local.team
      pattern = "^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+@[a-z0-9-]+(\\.[a-z0-9-]+)+$"
    }

    "inbox.replies.domain must be a host name in lower case" = {
      values  = local.replies[*].domain
      pattern = "^[a-z0-9-]+(\\.[a-z0-9-]+)+$"
    }

    "inbox.replies.from must be addresses or @domains in lower case" = {
      values  = flatten(local.replies[*].from)
      pattern = "^[^@\\s,A-Z]*@[a-z0-9-]+(\\.[a-z0-9-]+)+$"
    }

    "inbox.language must be one of ${join(", ", local.languages)}" = {
      values  = local.inbox[*].language
      pattern = "^(${join("|", local.languages)})$"
    }

    "domain, site_domain and inbox_domain must be host names in lower case" = {
      values  = local.set_domains[*].name
      pattern = "^[a-z0-9-]+(\\.[a-z0-9-]+)+$"
    }

    "site_domain.certificate_arn must be in us-east-1, the only region from which CloudFront takes certificates" = {
      values  = [for arn in local.settings.site_domain[*].certificate_arn : arn if arn != null]
      pattern = "^arn:[a-z-]+:acm:us-east-1:"
    }
  }

  rules = merge(
    { for rule, check in local.patterns : rule => alltrue([
      for value in check.values : can(regex(check.pattern, value))
    ]) },
    {
      for name, maximum in local.maxima : "${name} must be a whole number from 1 to ${maximum}" => alltrue([
        for number in try(local.settings[name], local.inbox[trimprefix(name, "inbox.")], null)[*] :
        number == floor(max(1, min(number, maximum)))
      ])
    },
    {
      "audience must have at least one client id with an issuer, and is unset without one" = (
        local.settings.issuer == null ? local.settings.audience == null
        : try(alltrue([for client in coalescelist(local.settings.audience) : can(regex("^\\S+$", client))]), false)
      )

      "sign_up and totp are settings of the stage's own user pool; leave them out with an issuer" = (
        local.settings.issuer == null || (local.settings.sign_up && !local.settings.totp)
      )

      "site = false needs the cors_origin of the page that calls the API, and no site_domain" = (
        local.has_site || (local.settings.cors_origin != null && local.settings.site_domain == null)
      )

      "form needs a form: leave it out with a cors_origin, or set site = true" = local.settings.form == null || local.has_site

      "throttling must be at least 1, since the gateway answers every call with 429 at 0" = min(values(local.settings.throttling)...) >= 1

      "throttling.rate_limit must be at most ${local.index_units}, the inquiries a second that the index takes; warm_throughput allows up to 16000" = (
        local.settings.throttling.rate_limit <= local.index_units
      )

      "warm_throughput must be a whole number above 4000, which every table takes" = alltrue([
        for units in local.settings.warm_throughput[*] : units == floor(max(4001, units))
      ])

      "alarm_topic_arns needs a topic of us-east-1, too, for the alarms of health_checks and site_domain" = (
        length(local.settings.alarm_topic_arns) == 0 || !(local.has_health_checks || local.settings.site_domain != null)
        || anytrue([for arn in local.settings.alarm_topic_arns : strcontains(arn, ":sns:us-east-1:")])
      )

      "inbox needs to and from, or a team of at most 50" = alltrue([
        for inbox in local.settings.inbox[*] : (inbox.to == null) == (inbox.from == null)
        && (inbox.to != null || length(inbox.team) > 0) && length(inbox.team) <= 50
      ])

      "inbox_domain needs inbox.team, whose page it names" = local.settings.inbox_domain == null || length(local.team) > 0

      "inbox.links_only needs inbox.team, to whose page the links lead" = (
        !try(local.settings.inbox.links_only, false) || length(local.team) > 0
      )

      "inbox.identity must be the address in from, or its domain or a parent of that" = alltrue([
        for identity in flatten(local.inbox[*].identity[*]) : identity == local.inbox.from
        || can(regex("^[a-z0-9.-]+$", identity))
        && anytrue([for before in ["@", "."] : endswith(local.inbox.from, "${before}${identity}")])
      ])

      "inbox.replies.domain must be another one than those of to and from, and replies.from must not be empty" = alltrue([
        for replies in local.replies[*] : length(replies.from) > 0
        && alltrue([for address in [local.inbox.to, local.inbox.from] : !endswith(address, "@${replies.domain}")])
      ])

      "dns must be \"none\", \"certificate\" or \"all\", not \"none\" with certificate_arn, and not set with hosted_zone" = alltrue(flatten([
        for domain in local.set_domains : [
          for dns in domain.dns[*] : local.settings.hosted_zone == null
          && contains(concat(domain.certificate_arn == null ? ["none"] : [], ["certificate", "all"]), dns)
        ]
      ]))

      "domain, site_domain and inbox_domain must be in the hosted_zone" = alltrue(flatten([
        for zone in local.settings.hosted_zone[*] : [
          for name in local.set_domains[*].name : endswith(".${name}", ".${zone}")
        ]
      ]))

      "domain, site_domain and inbox_domain must be different names" = length(distinct(local.set_domains[*].name)) == length(local.set_domains)
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

# Warnings: `npm run deploy` refuses a release that does not state them.
check "retention" {
  assert {
    condition     = local.stage != "release" || local.settings.retention_days != null
    error_message = "Stage release keeps inquiries until somebody deletes them: set retention_days, unless null is what you decided (docs/privacy.md)."
  }
}

check "notice" {
  assert {
    condition     = local.stage != "release" || !local.has_site || try(local.settings.form.privacy, null) != null
    error_message = "Stage release has a form without form.privacy, the address of your privacy notice (docs/privacy.md)."
  }
}
