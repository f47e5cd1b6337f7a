# Stages with a user pool, a contact form and domains; `npm run check:infra` runs this file in the workspace
# develop. Ids in messages: see every_stage.tftest.hcl.

mock_provider "aws" { source = "./tests/mocks" }

mock_provider "aws" {
  alias  = "us_east_1"
  source = "./tests/mocks"
}

variables {
  package_file        = "versions.tf"
  mailer_package_file = "stages.tf"

  # The smallest settings.
  stages = { develop = {} }
}

run "user_pool_and_form" {
  assert {
    condition = (
      !module.identity[0].pool.admin_create_user_config[0].allow_admin_create_user_only
      && module.identity[0].pool.mfa_configuration == "OFF" && length(module.identity[0].pool.email_configuration) == 0
    )
    error_message = "By default users cannot register, or their pool has a second factor or another sender than Cognito."
  }
  assert {
    condition     = aws_dynamodb_table.erasures.tags["user_pool"] == module.identity[0].pool.id
    error_message = "npm run inbox -- erase does not find the user pool."
  }
  assert {
    condition = (
      aws_apigatewayv2_authorizer.this.jwt_configuration[0].issuer == "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Mock"
      && aws_apigatewayv2_authorizer.this.jwt_configuration[0].audience == toset([module.identity[0].client_ids.form, module.identity[0].client_ids.smoke])
    )
    error_message = "The API does not accept the tokens of the user pool's two clients."
  }
  assert {
    condition = (
      terraform_data.guard.input.is_protected == aws_dynamodb_table.this.deletion_protection_enabled
      && (module.identity[0].pool.deletion_protection == "ACTIVE") == aws_dynamodb_table.this.deletion_protection_enabled
    )
    error_message = "Cognito.6: a protected stage could be destroyed up to its table, or its user pool could."
  }
  assert {
    condition = {
      site    = output.site
      config  = output.form_config
      connect = output.connect_origins
      policy  = local.site_connections
      origins = [one(aws_apigatewayv2_api.this.cors_configuration[0].allow_origins), aws_lambda_function.this.environment[0].variables.CORS_ORIGIN]
      } == {
      site = { bucket = module.site[0].bucket.id, distribution_id = "MOCKDISTRIBUTION", url = "https://mock.cloudfront.net/" }
      config = {
        issuer   = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Mock"
        clientId = module.identity[0].client_ids.form
        apiUrl   = "https://mockapi.execute-api.eu-central-1.amazonaws.com"
      }
      connect = tolist([
        "https://cognito-idp.eu-central-1.amazonaws.com", local.sign_in_origin, "https://mockapi.execute-api.eu-central-1.amazonaws.com",
      ])
      policy = tolist([
        "https://cognito-idp.eu-central-1.amazonaws.com", local.sign_in_origin, "https://*.execute-api.eu-central-1.amazonaws.com",
      ])
      origins = ["https://mock.cloudfront.net", "https://mock.cloudfront.net"]
    }
    error_message = "The upload would go elsewhere, config.json or the page's policy would have other addresses, or the API does not allow the form's origin."
  }
}

run "own_issuer_and_page" {
  variables {
    stages = {
      develop = {
        issuer = "https://issuer.example.com", audience = ["form", "other"], cors_origin = "https://www.example.com"
      }
    }
  }

  assert {
    condition = (
      length(module.identity) == 0 && length(module.site) == 0
      && output.site == null && output.form_config == null && output.smoke_sign_in == null && length(output.connect_origins) == 0
      && aws_dynamodb_table.erasures.tags["user_pool"] == "none"
    )
    error_message = "A stage with an issuer and a page of your own has a user pool or a form, or an output names one, or npm run inbox -- erase would look for a pool."
  }
  assert {
    condition = (
      length(aws_dynamodb_table.this.server_side_encryption) == 0 && length(aws_dynamodb_table.erasures.server_side_encryption) == 0
      && (aws_lambda_function.this.reserved_concurrent_executions == -1 || aws_lambda_function.this.reserved_concurrent_executions == null)
      && aws_apigatewayv2_stage.this.default_route_settings[0].throttling_rate_limit == 100
      && aws_apigatewayv2_stage.this.default_route_settings[0].throttling_burst_limit == 200
    )
    error_message = "Without settings a table does not use AWS's key, concurrency is reserved, or every call is a 429."
  }
  assert {
    condition     = alltrue([for alarm in module.alarms.all : length(alarm.alarm_actions) == 0]) && length(output.dns_records) == 0
    error_message = "Alarms are sent somewhere by default, or there is a custom domain."
  }
}

run "own_issuer_with_form" {
  variables { stages = { develop = { issuer = "https://issuer.example.com", audience = ["form", "other"] } } }

  assert {
    condition = (
      output.form_config.issuer == "https://issuer.example.com" && output.form_config.clientId == "form"
      && local.site_connections == tolist(["https:"])
    )
    error_message = "The form does not sign in at the issuer as the first client of the audience, or cannot reach its token endpoint, whose address is not known."
  }
}

run "hosted_zone" {
  variables {
    stages = {
      develop = {
        hosted_zone = "example.com", domain = { name = "api.example.com" }, site_domain = { name = "contact.example.com" }
      }
    }
  }

  assert {
    condition = (
      toset(keys(aws_route53_record.validation)) == toset(["api.example.com", "contact.example.com"])
      && { for key, record in aws_route53_record.address : key => [record.alias[0].zone_id, record.zone_id] } == {
        "api.example.com A"        = ["MOCKAPIZONE", "MOCKZONE"]
        "contact.example.com A"    = ["MOCKSITEZONE", "MOCKZONE"]
        "contact.example.com AAAA" = ["MOCKSITEZONE", "MOCKZONE"]
      }
    )
    error_message = "A record that validates a certificate, or that points to the API or to the form, is missing or points to something else."
  }
  assert {
    condition = (
      output.api_url == "https://api.example.com" && output.site.url == "https://contact.example.com/"
      && output.cors_origin == "https://contact.example.com" && length(output.dns_records) == 0
      && aws_apigatewayv2_api.this.disable_execute_api_endpoint
    )
    error_message = "The domains are not in use."
  }
  assert {
    condition = (
      module.site[0].distribution.aliases == toset(["contact.example.com"])
      && module.alarms_us_east_1.all["certificate-site"].metric_name == "DaysToExpiry" && contains(keys(module.alarms.all), "certificate-api")
      && module.site[0].distribution.viewer_certificate[0].minimum_protocol_version == "TLSv1.2_2021"
      && module.site[0].distribution.viewer_certificate[0].ssl_support_method == "sni-only"
    )
    error_message = "CKV_AWS_174, AVD-AWS-0013: the form's domain accepts TLS below 1.2, or nobody hears that its certificate is not renewed."
  }
  assert {
    condition     = local.site_connections == tolist(["https://cognito-idp.eu-central-1.amazonaws.com", local.sign_in_origin, "https://api.example.com"])
    error_message = "The form may connect to other APIs than its own."
  }
}

run "dns_by_hand_without_records" {
  variables {
    stages = { develop = { domain = { name = "api.example.com" }, site_domain = { name = "contact.example.com" } } }
  }

  assert {
    condition = (
      output.api_url == "https://mockapi.execute-api.eu-central-1.amazonaws.com" && output.site.url == "https://mock.cloudfront.net/"
      && !aws_apigatewayv2_api.this.disable_execute_api_endpoint
      && length(aws_apigatewayv2_domain_name.this) == 0 && length(aws_acm_certificate_validation.api) == 0 && length(aws_route53_record.validation) == 0
    )
    error_message = "A stage whose domains have no records yet does not keep the addresses of AWS."
  }
  assert {
    condition = output.dns_records == [for use in ["api", "contact"] : {
      domain = "${use}.example.com", name = "_mock.example.com", type = "CNAME", value = "_mock.acm-validations.aws"
      next   = "set dns = \"certificate\" in ${use == "api" ? "domain" : "site_domain"}", purpose = "validates the certificate"
    }]
    error_message = "The records that validate the certificates are not an output."
  }
}

run "dns_by_hand_with_certificates" {
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
      output.api_url == "https://mockapi.execute-api.eu-central-1.amazonaws.com" && output.site.url == "https://mock.cloudfront.net/"
      && !aws_apigatewayv2_api.this.disable_execute_api_endpoint
      && one(keys(aws_apigatewayv2_domain_name.this)) == "api.example.com"
      && module.site[0].distribution.viewer_certificate[0].acm_certificate_arn == "arn:aws:acm:us-east-1:111122223333:certificate/own"
      && length(aws_acm_certificate.site) == 0
    )
    error_message = "The domains are not prepared, or are already in use."
  }
  assert {
    condition = { for record in output.dns_records : "${record.name} ${record.type}" => record.value } == {
      "api.example.com CNAME"     = "d-mock.execute-api.eu-central-1.amazonaws.com"
      "contact.example.com CNAME" = "mock.cloudfront.net"
    }
    error_message = "The records that point to the API and to the form are not an output."
  }
}

# The modules by themselves.
run "module_site" {
  state_key = "module_site"
  module { source = "./site" }

  variables {
    name        = "inquiries-develop"
    domain      = null
    connections = ["https://one.example.com", "https://two.example.com"]
  }

  assert {
    condition = (
      aws_s3_bucket_public_access_block.this.block_public_acls
      && aws_s3_bucket_public_access_block.this.block_public_policy
      && aws_s3_bucket_public_access_block.this.ignore_public_acls
      && aws_s3_bucket_public_access_block.this.restrict_public_buckets
    )
    error_message = "CKV_AWS_53, CKV_AWS_54, CKV_AWS_55, CKV_AWS_56, AVD-AWS-0086, AVD-AWS-0087: the bucket can become public."
  }
  assert {
    condition = jsonencode(jsondecode(aws_s3_bucket_policy.this.policy).Statement) == jsonencode([
      {
        Sid       = "CloudFrontReads", Effect = "Allow", Principal = { Service = "cloudfront.amazonaws.com" }, Action = "s3:GetObject", Resource = "arn:aws:s3:::mock/*",
        Condition = { StringEquals = { "AWS:SourceArn" = "arn:aws:cloudfront::111122223333:distribution/MOCKDISTRIBUTION" } }
      },
      {
        Sid       = "OnlyTls", Effect = "Deny", Principal = "*", Action = "s3:*", Resource = ["arn:aws:s3:::mock", "arn:aws:s3:::mock/*"],
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ])
    error_message = "CKV_AWS_70: others than this distribution may read the bucket, or without TLS."
  }
  assert {
    condition = (
      aws_cloudfront_distribution.this.enabled
      && aws_cloudfront_distribution.this.default_root_object == "index.html"
      && aws_cloudfront_distribution.this.default_cache_behavior[0].viewer_protocol_policy == "redirect-to-https"
      && toset(aws_cloudfront_distribution.this.default_cache_behavior[0].allowed_methods) == toset(["GET", "HEAD"])
    )
    error_message = "CKV_AWS_34, CKV_AWS_305, AVD-AWS-0012: the distribution does not serve index.html, by HTTPS only."
  }
  assert {
    condition = (
      one(aws_cloudfront_distribution.this.origin).domain_name == "mock.s3.eu-central-1.amazonaws.com"
      && one(aws_cloudfront_distribution.this.origin).origin_access_control_id == aws_cloudfront_origin_access_control.this.id
      && aws_cloudfront_origin_access_control.this.signing_behavior == "always"
    )
    error_message = "CloudFront does not sign its requests to the bucket."
  }
  assert {
    condition = alltrue([
      for part in [
        "script-src 'self' 'sha256-${base64sha256(file("../../web/src/first-paint.js"))}';",
        "style-src 'self' 'sha256-${base64sha256(file("../../web/ui/first-paint.css"))}';",
        "connect-src 'self' https://one.example.com https://two.example.com;",
      ] : strcontains(aws_cloudfront_response_headers_policy.this.security_headers_config[0].content_security_policy[0].content_security_policy, part)
    ])
    error_message = "The page would not be painted, or may connect to other addresses."
  }
  assert {
    condition = (
      aws_cloudfront_distribution.this.default_cache_behavior[0].response_headers_policy_id == aws_cloudfront_response_headers_policy.this.id
      && aws_cloudfront_response_headers_policy.this.security_headers_config[0].content_type_options[0].override
      && aws_cloudfront_response_headers_policy.this.security_headers_config[0].referrer_policy[0].referrer_policy == "no-referrer"
      && aws_cloudfront_response_headers_policy.this.security_headers_config[0].strict_transport_security[0].access_control_max_age_sec == 31536000
      && aws_cloudfront_response_headers_policy.this.security_headers_config[0].strict_transport_security[0].override
    )
    error_message = "CKV2_AWS_32, CKV_AWS_259: responses do not have the headers of web/README.md."
  }
  assert {
    condition = (
      one(aws_cloudfront_response_headers_policy.this.cors_config[0].access_control_allow_origins).items == toset(["*"])
      && one(aws_cloudfront_response_headers_policy.this.cors_config[0].access_control_allow_methods).items == toset(["GET", "HEAD"])
      && !aws_cloudfront_response_headers_policy.this.cors_config[0].access_control_allow_credentials
      && aws_cloudfront_response_headers_policy.this.cors_config[0].origin_override
    )
    error_message = "Pages of other origins cannot load the form's element, or may do more than load files."
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
      one(aws_cognito_user_pool.this.username_attributes) == "email"
      && one(aws_cognito_user_pool.this.auto_verified_attributes) == "email"
      && one(aws_cognito_user_pool.this.user_attribute_update_settings[0].attributes_require_verification_before_update) == "email"
      && !aws_cognito_user_pool.this.username_configuration[0].case_sensitive
      && aws_cognito_user_pool.this.password_policy[0].minimum_length >= 12
    )
    error_message = "Users do not sign in with an email that they have verified, in any case of letters, with a password of 12 characters or more."
  }
  assert {
    condition = (
      !aws_cognito_user_pool_client.form.generate_secret
      && aws_cognito_user_pool_client.form.allowed_oauth_flows == toset(["code"])
      && aws_cognito_user_pool_client.form.allowed_oauth_scopes == toset(["email", "openid"])
      && aws_cognito_user_pool_client.form.explicit_auth_flows == toset(["ALLOW_USER_SRP_AUTH"])
      && aws_cognito_user_pool_client.form.refresh_token_rotation[0].feature == "ENABLED"
      && aws_cognito_user_pool_client.form.id_token_validity == 60 && aws_cognito_user_pool_client.form.token_validity_units[0].id_token == "minutes"
      && aws_cognito_user_pool_client.form.refresh_token_validity == 30 && aws_cognito_user_pool_client.form.token_validity_units[0].refresh_token == "days"
      && one(aws_cognito_user_pool_client.form.callback_urls) == "https://www.example.com/"
      && one(aws_cognito_user_pool_client.form.logout_urls) == "https://www.example.com/"
    )
    error_message = "The form's client is not a public one with the code grant only, refresh tokens are not rotated, a token is valid for more than an hour or its renewal for more than 30 days, or users do not get back to the form."
  }
  assert {
    condition = alltrue([
      for client in [aws_cognito_user_pool_client.form, aws_cognito_user_pool_client.smoke] : client.write_attributes == toset(["email"]) && client.prevent_user_existence_errors == "ENABLED"
    ])
    error_message = "Users can set other attributes than their email, such as that it is verified, or a client tells who has an account."
  }
  assert {
    condition = (
      aws_cognito_user_pool_client.smoke.explicit_auth_flows == toset(["ALLOW_ADMIN_USER_PASSWORD_AUTH"])
      && aws_cognito_user_pool_client.smoke.allowed_oauth_flows_user_pool_client != true
      && aws_cognito_user_pool_client.smoke.id_token_validity == 5 && aws_cognito_user_pool_client.smoke.token_validity_units[0].id_token == "minutes"
      && aws_cognito_user_pool_client.smoke.access_token_validity == 5 && aws_cognito_user_pool_client.smoke.token_validity_units[0].access_token == "minutes"
    )
    error_message = "Others than those who deploy can sign in with the smoke test's client, or its tokens are valid for more than five minutes."
  }
}
