# The contact form: the files of web/dist in a private bucket, served by CloudFront. `npm run deploy` uploads them.
locals {
  # A stage whose API is for the page of another host (cors_origin) serves none, unless it has a domain for it.
  has_site = coalesce(local.settings.site, local.settings.cors_origin == null || local.settings.site_domain != null)

  site_origin = (
    !local.has_site ? null
    : try(local.dns.site, null) == "all" ? "https://${local.settings.site_domain.name}"
    : "https://${aws_cloudfront_distribution.site[0].domain_name}"
  )
  cors_origin = local.settings.cors_origin == null ? local.site_origin : local.settings.cors_origin

  # The form's settings that are set: the form refuses keys without a value.
  form = { for key, value in merge({ answersFrom = one(local.inbox[*].from) }, local.settings.form[*]...) : key => value if value != null }

  # Hashes of the inline script and style sheet, which paint the page before another file is loaded.
  first_paint = { for type, folder in { js = "src", css = "ui" } : type => "'sha256-${base64sha256(file("${path.module}/../../web/${folder}/first-paint.${type}"))}'" }

  # AWS's own cache policy, the same in every account: it follows Cache-Control, compresses, and forwards no
  # cookies or queries.
  caching_optimized = "658327ea-f89d-4fab-a63d-7e88639e58f6"

  # The API and an issuer of the user's own are not known here by their addresses: the API allows the origin of the
  # distribution, which uses this policy, so its address would be a cycle. `npm run deploy` writes the exact
  # addresses into the policy of the page itself, and browsers apply both policies.
  site_connections = local.has_user_pool ? [
    "https://cognito-idp.${local.region}.amazonaws.com",
    local.sign_in_origin,
    try(local.dns.api, null) == "all" ? "https://${local.settings.domain.name}" : "https://*.execute-api.${local.region}.amazonaws.com",
  ] : ["https:"]
}

resource "aws_s3_bucket" "site" {
  count = local.has_site ? 1 : 0

  # Names of buckets are unique over all accounts.
  bucket = "${local.name}-site-${local.account_id}"
  # The files can be built again from their commit.
  force_destroy = true
}

resource "aws_s3_bucket_public_access_block" "site" {
  count = local.has_site ? 1 : 0

  bucket                  = aws_s3_bucket.site[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_policy" "site" {
  count = local.has_site ? 1 : 0

  bucket = aws_s3_bucket.site[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "CloudFrontReads"
        Effect    = "Allow"
        Principal = { Service = "cloudfront.amazonaws.com" }
        Action    = "s3:GetObject"
        Resource  = "${aws_s3_bucket.site[0].arn}/*"
        Condition = { StringEquals = { "AWS:SourceArn" = aws_cloudfront_distribution.site[0].arn } }
      },
      {
        Sid       = "OnlyTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "s3:*"
        Resource  = [aws_s3_bucket.site[0].arn, "${aws_s3_bucket.site[0].arn}/*"]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })

  depends_on = [aws_s3_bucket_public_access_block.site]
}

resource "aws_cloudfront_origin_access_control" "site" {
  count = local.has_site ? 1 : 0

  name                              = "${local.name}-site"
  description                       = "CloudFront signs its requests to the bucket of ${local.name}."
  origin_access_control_origin_type = "s3"
  signing_behavior                  = "always"
  signing_protocol                  = "sigv4"
}

# The headers of web/README.md.
resource "aws_cloudfront_response_headers_policy" "site" {
  count = local.has_site ? 1 : 0

  name    = "${local.name}-site"
  comment = "Headers of the contact form of ${local.name}."

  # Pages of other origins load inquiry-form.js and its chunks, and browsers load modules with CORS. Every
  # file is public.
  cors_config {
    access_control_allow_credentials = false
    origin_override                  = true

    access_control_allow_headers { items = ["*"] }

    access_control_allow_methods { items = ["GET", "HEAD"] }

    access_control_allow_origins { items = ["*"] }
  }

  security_headers_config {
    content_security_policy {
      override = true
      content_security_policy = join("; ", [
        "default-src 'none'", "script-src 'self' ${local.first_paint.js}", "style-src 'self' ${local.first_paint.css}", "img-src 'self'",
        "connect-src 'self' ${join(" ", local.site_connections)}",
        "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
      ])
    }

    content_type_options { override = true }

    referrer_policy {
      override        = true
      referrer_policy = "no-referrer"
    }

    strict_transport_security {
      override                   = true
      access_control_max_age_sec = 31536000
    }
  }
}

resource "aws_cloudfront_distribution" "site" {
  count = local.has_site ? 1 : 0

  comment             = "Contact form of ${local.name}."
  enabled             = true
  is_ipv6_enabled     = true
  http_version        = "http2and3"
  price_class         = "PriceClass_100"
  default_root_object = "index.html"
  aliases             = local.site_alias[*].name

  origin {
    origin_id                = "bucket"
    domain_name              = aws_s3_bucket.site[0].bucket_regional_domain_name
    origin_access_control_id = aws_cloudfront_origin_access_control.site[0].id
  }

  # How long a file is kept is in its Cache-Control, which `npm run deploy` sets.
  default_cache_behavior {
    target_origin_id           = "bucket"
    viewer_protocol_policy     = "redirect-to-https"
    allowed_methods            = ["GET", "HEAD"]
    cached_methods             = ["GET", "HEAD"]
    compress                   = true
    cache_policy_id            = local.caching_optimized
    response_headers_policy_id = aws_cloudfront_response_headers_policy.site[0].id
  }

  restrictions {
    geo_restriction { restriction_type = "none" }
  }

  viewer_certificate {
    cloudfront_default_certificate = local.site_alias == null
    acm_certificate_arn            = local.site_alias == null ? null : local.site_certificate_arn
    ssl_support_method             = local.site_alias == null ? null : "sni-only"
    minimum_protocol_version       = local.site_alias == null ? "TLSv1" : "TLSv1.2_2021"
  }
}
