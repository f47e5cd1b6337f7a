# The smallest stage, domains without a hosted zone, what becomes live, and the child modules by themselves;
# `npm run check:infra` runs this file in the workspace develop. Ids in comments: see every_stage.tftest.hcl.

mock_provider "aws" { source = "./tests/mocks" }

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"
}

variables {
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  stages = { develop = {} }
}

run "smallest" {
  assert {
    condition = (
      [module.identity[0].pool.admin_create_user_config[0].allow_admin_create_user_only, module.identity[0].pool.mfa_configuration, module.identity[0].pool.deletion_protection, length(module.identity[0].pool.email_configuration)] == [false, "OFF", "INACTIVE", 0]
      && aws_dynamodb_table.erasures.tags["user_pool"] == module.identity[0].pool.id
      && aws_apigatewayv2_authorizer.this.jwt_configuration[0].issuer == "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Mock"
      && aws_apigatewayv2_authorizer.this.jwt_configuration[0].audience == toset(values(module.identity[0].client_ids))
    )
    error_message = "The pool's defaults are others."
  }
  assert {
    condition = (
      output.site == { bucket = module.site[0].bucket.id, distribution_id = "MOCKDISTRIBUTION", url = "https://mock.cloudfront.net/" }
      && output.form_config == { issuer = local.issuer, clientId = module.identity[0].client_ids.form, apiUrl = "https://mockapi.execute-api.eu-central-1.amazonaws.com" }
      && output.connect_origins == tolist(["https://cognito-idp.eu-central-1.amazonaws.com", local.sign_in_origin, "https://mockapi.execute-api.eu-central-1.amazonaws.com"])
      && local.site_connections == tolist(["https://cognito-idp.eu-central-1.amazonaws.com", local.sign_in_origin, "https://*.execute-api.eu-central-1.amazonaws.com"])
      && [one(aws_apigatewayv2_api.this.cors_configuration[0].allow_origins), local.cors_origin] == ["https://mock.cloudfront.net", "https://mock.cloudfront.net"]
    )
    error_message = "The form has other addresses."
  }
}

run "form_with_own_issuer_and_domains_without_records" {
  variables {
    stages = {
      develop = {
        issuer = "https://issuer.example.com", audience = ["form", "other"], domain = { name = "api.example.com" }, site_domain = { name = "contact.example.com" }
      }
    }
  }

  assert {
    condition     = [output.form_config.issuer, output.form_config.clientId, local.site_connections] == ["https://issuer.example.com", "form", tolist(["https:"])]
    error_message = "The form cannot sign in at an issuer of its own."
  }
  assert {
    condition = (
      [output.api_url, output.site.url, aws_apigatewayv2_api.this.disable_execute_api_endpoint] == ["https://mockapi.execute-api.eu-central-1.amazonaws.com", "https://mock.cloudfront.net/", false]
      && length(aws_apigatewayv2_domain_name.this) + length(aws_acm_certificate_validation.api) + length(aws_route53_record.validation) == 0
      && output.dns_records == [for use in ["api", "contact"] : {
        domain = "${use}.example.com", name = "_mock.example.com", type = "CNAME", value = "_mock.acm-validations.aws"
        next   = "set dns = \"certificate\" in ${use == "api" ? "domain" : "site_domain"}", purpose = "validates the certificate"
      }]
    )
    error_message = "Without records, AWS's addresses are not kept."
  }
}

run "domains_with_certificates" {
  variables {
    stages = {
      develop = {
        domain      = { name = "api.example.com", dns = "certificate" }
        site_domain = { name = "contact.example.com", certificate_arn = "arn:aws:acm:us-east-1:111122223333:certificate/own" }
      }
    }
  }

  assert {
    condition = (
      [output.api_url, output.site.url, aws_apigatewayv2_api.this.disable_execute_api_endpoint] == ["https://mockapi.execute-api.eu-central-1.amazonaws.com", "https://mock.cloudfront.net/", false]
      && [keys(aws_apigatewayv2_domain_name.this), length(aws_acm_certificate.site)] == [["api.example.com"], 0]
      && module.site[0].distribution.viewer_certificate[0].acm_certificate_arn == var.stages.develop.site_domain.certificate_arn
      && { for record in output.dns_records : "${record.name} ${record.type}" => record.value } == {
        "api.example.com CNAME"     = "d-mock.execute-api.eu-central-1.amazonaws.com"
        "contact.example.com CNAME" = "mock.cloudfront.net"
      }
    )
    error_message = "The domains are not prepared, or are in use."
  }
}

# Of an identity that SES has not verified, Cognito would refuse the first deployment.
run "pinned_version_and_pool_without_its_identity" {
  state_key = "pinned"

  variables {
    live_version = "7"
    stages       = { develop = { inbox = { to = "team@example.com", from = "inquiries@example.com" } } }
  }

  override_resource {
    target = module.mailer[0].aws_sesv2_email_identity.this
    values = { verified_for_sending_status = false, dkim_signing_attributes = { tokens = [] } }
  }

  assert {
    condition = (
      [aws_lambda_alias.live.function_version, aws_lambda_invocation.post.qualifier, aws_lambda_invocation.list.qualifier, length(module.identity[0].pool.email_configuration)] == ["7", "7", "7", 0]
      && jsondecode(aws_lambda_invocation.post.input).requestContext.authorizer.jwt.claims == local.test_claims
    )
    error_message = "The pinned version is not tested and live, or the pool has an unverified sender."
  }
}

run "pool_that_cognito_mails_for" {
  variables {
    stages = { develop = { inbox = { to = "team@example.org", from = "team@mail.example.com", identity = "example.com", pool_mail = false } } }
  }

  assert {
    condition     = [length(module.identity[0].pool.email_configuration), length(data.aws_sesv2_email_identity.named), aws_lambda_alias.live.function_version == aws_lambda_function.this.version] == [0, 0, true]
    error_message = "The pool's mails or the newest version are not the default."
  }
}

# Each in a state of its own: an override does not change what was invoked before.
run "post_fails" {
  state_key = "post_fails"

  override_resource {
    target = aws_lambda_invocation.post
    values = { result = "{\"statusCode\":500,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "list_lacks_the_inquiry" {
  state_key = "list_lacks_the_inquiry"

  override_resource {
    target = aws_lambda_invocation.list
    values = { result = "{\"statusCode\":200,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "claims_are_not_checked" {
  state_key = "claims_are_not_checked"

  override_resource {
    target = aws_lambda_invocation.refused["unauthorized"]
    values = { result = "{\"statusCode\":200,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "any_method_is_taken" {
  state_key = "any_method_is_taken"

  override_resource {
    target = aws_lambda_invocation.refused["not_allowed"]
    values = { result = "{\"statusCode\":200,\"body\":\"{}\"}" }
  }

  expect_failures = [aws_lambda_alias.live]
}

run "module_site" {
  state_key = "module_site"
  module { source = "./site" }

  variables {
    name        = "inquiries-develop"
    domain      = null
    connections = ["https://one.example.com", "https://two.example.com"]
  }

  # CKV_AWS_53 to 56, CKV_AWS_70, AVD-AWS-0086, AVD-AWS-0087
  assert {
    condition = (
      alltrue([for option in ["block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"] : aws_s3_bucket_public_access_block.this[option]])
      && jsondecode(aws_s3_bucket_policy.this.policy).Statement == [
        {
          Sid       = "CloudFrontReads", Effect = "Allow", Principal = { Service = "cloudfront.amazonaws.com" }, Action = "s3:GetObject", Resource = "arn:aws:s3:::mock/*",
          Condition = { StringEquals = { "AWS:SourceArn" = aws_cloudfront_distribution.this.arn } }
        },
        {
          Sid       = "OnlyTls", Effect = "Deny", Principal = "*", Action = "s3:*", Resource = ["arn:aws:s3:::mock", "arn:aws:s3:::mock/*"],
          Condition = { Bool = { "aws:SecureTransport" = "false" } }
        },
      ]
    )
    error_message = "Others may read the bucket."
  }
  # CKV_AWS_34, CKV_AWS_305, AVD-AWS-0012
  assert {
    condition = (
      [aws_cloudfront_distribution.this.enabled, aws_cloudfront_distribution.this.default_root_object] == [true, "index.html"]
      && aws_cloudfront_distribution.this.default_cache_behavior[0].viewer_protocol_policy == "redirect-to-https"
      && aws_cloudfront_distribution.this.default_cache_behavior[0].allowed_methods == toset(["GET", "HEAD"])
      && aws_cloudfront_distribution.this.default_cache_behavior[0].response_headers_policy_id == aws_cloudfront_response_headers_policy.this.id
      && [for origin in aws_cloudfront_distribution.this.origin : [origin.domain_name, origin.origin_access_control_id]] == [["mock.s3.eu-central-1.amazonaws.com", aws_cloudfront_origin_access_control.this.id]]
      && aws_cloudfront_origin_access_control.this.signing_behavior == "always"
    )
    error_message = "The form is not served from the bucket by HTTPS."
  }
  # CKV2_AWS_32, CKV_AWS_259
  assert {
    condition = (
      alltrue([for headers in aws_cloudfront_response_headers_policy.this.security_headers_config : alltrue([
        headers.content_type_options[0].override, headers.referrer_policy[0].referrer_policy == "no-referrer",
        headers.strict_transport_security[0].access_control_max_age_sec == 31536000, headers.strict_transport_security[0].override,
        strcontains(headers.content_security_policy[0].content_security_policy, "connect-src 'self' https://one.example.com https://two.example.com;"),
        strcontains(headers.content_security_policy[0].content_security_policy, "script-src 'self' 'sha256-${base64sha256(file("../../web/src/first-paint.js"))}';"),
        strcontains(headers.content_security_policy[0].content_security_policy, "style-src 'self' 'sha256-${base64sha256(file("../../web/ui/first-paint.css"))}';"),
      ])])
      && [for cors in aws_cloudfront_response_headers_policy.this.cors_config : [one(cors.access_control_allow_origins).items, one(cors.access_control_allow_methods).items, cors.access_control_allow_credentials, cors.origin_override]]
      == [[toset(["*"]), toset(["GET", "HEAD"]), false, true]]
    )
    error_message = "The headers are not those of web/README.md."
  }
}

run "module_identity" {
  state_key = "module_identity"
  module { source = "./identity" }

  variables {
    name         = "inquiries-develop"
    is_protected = false
    sign_up      = true
    totp         = false
    senders      = []
    form_urls    = ["https://www.example.com/"]
  }

  assert {
    condition = (
      [for option in ["username_attributes", "auto_verified_attributes"] : one(aws_cognito_user_pool.this[option])] == ["email", "email"]
      && one(aws_cognito_user_pool.this.user_attribute_update_settings[0].attributes_require_verification_before_update) == "email"
      && [aws_cognito_user_pool.this.username_configuration[0].case_sensitive, aws_cognito_user_pool.this.password_policy[0].minimum_length] == [false, 12]
    )
    error_message = "Users sign in without a verified email."
  }
  assert {
    condition = (
      [for option in ["callback_urls", "logout_urls", "allowed_oauth_flows", "allowed_oauth_scopes", "explicit_auth_flows"] : join(" ", aws_cognito_user_pool_client.form[option])]
      == ["https://www.example.com/", "https://www.example.com/", "code", "email openid", "ALLOW_USER_SRP_AUTH"]
      && [aws_cognito_user_pool_client.form.generate_secret, aws_cognito_user_pool_client.form.refresh_token_rotation[0].feature] == [false, "ENABLED"]
      && [join(" ", aws_cognito_user_pool_client.smoke.explicit_auth_flows), aws_cognito_user_pool_client.smoke.allowed_oauth_flows_user_pool_client == true] == ["ALLOW_ADMIN_USER_PASSWORD_AUTH", false]
    )
    error_message = "A client takes other ways to sign in."
  }
  assert {
    condition = [for client in [aws_cognito_user_pool_client.form, aws_cognito_user_pool_client.smoke] : [
      for token in ["id", "access", "refresh"] : "${client["${token}_token_validity"]} ${client.token_validity_units[0]["${token}_token"]}"
    ]] == [["60 minutes", "60 minutes", "30 days"], ["5 minutes", "5 minutes", "60 minutes"]]
    error_message = "A token is valid for too long."
  }
  assert {
    condition = alltrue([for client in [aws_cognito_user_pool_client.form, aws_cognito_user_pool_client.smoke] :
      [join(" ", client.write_attributes), client.prevent_user_existence_errors, client.enable_token_revocation] == ["email", "ENABLED", true]
    ])
    error_message = "A client tells who has an account, or lets users change more."
  }
}
