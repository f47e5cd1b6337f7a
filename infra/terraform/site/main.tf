# A private bucket, served by CloudFront. `npm run deploy` uploads the form.

terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      configuration_aliases = [aws.us_east_1]
    }
  }
}

variable "name" {
  description = "The stage's name, with which the names begin."
  type        = string
}

variable "domain" {
  description = "Domain name of the form, with its certificate; null: CloudFront's host only."
  type        = object({ name = string, certificate_arn = string })
}

variable "connections" {
  description = "The addresses that the page may connect to, as a Content-Security-Policy has them."
  type        = list(string)
}

variable "log_retention_days" {
  description = "Days for which requests for the form are logged, with the addresses of who sends them; null: no log."
  type        = number
}

locals {
  first_paint = { for type, folder in { js = "web/src", css = "ui" } : type => format(
    "'sha256-%s'", base64sha256(file("${path.module}/../../../${folder}/first-paint.${type}")),
  ) }
}

data "aws_caller_identity" "this" {}

resource "aws_s3_bucket" "this" {
  bucket        = "${var.name}-site-${data.aws_caller_identity.this.account_id}"
  force_destroy = true
}

resource "aws_s3_bucket_public_access_block" "this" {
  bucket                  = aws_s3_bucket.this.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_policy" "this" {
  bucket = aws_s3_bucket.this.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "CloudFrontReads"
        Effect    = "Allow"
        Principal = { Service = "cloudfront.amazonaws.com" }
        Action    = "s3:GetObject"
        Resource  = "${aws_s3_bucket.this.arn}/*"
        Condition = { StringEquals = { "AWS:SourceArn" = aws_cloudfront_distribution.this.arn } }
      },
      {
        Sid       = "OnlyTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "s3:*"
        Resource  = [aws_s3_bucket.this.arn, "${aws_s3_bucket.this.arn}/*"]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })

  depends_on = [aws_s3_bucket_public_access_block.this]
}

resource "aws_cloudfront_origin_access_control" "this" {
  name                              = "${var.name}-site"
  description                       = "CloudFront signs its requests to the bucket of ${var.name}."
  origin_access_control_origin_type = "s3"
  signing_behavior                  = "always"
  signing_protocol                  = "sigv4"
}

resource "aws_cloudfront_response_headers_policy" "this" {
  name    = "${var.name}-site"
  comment = "Headers of the contact form of ${var.name}."

  # Other origins load inquiry-form.js and its chunks.
  cors_config {
    access_control_allow_credentials = false
    origin_override                  = true

    access_control_allow_headers { items = ["*"] }

    access_control_allow_methods { items = ["GET", "HEAD"] }

    access_control_allow_origins { items = ["*"] }
  }

  # As the local server sends it (lib/pages/page-server.ts).
  custom_headers_config {
    items {
      header   = "Cross-Origin-Opener-Policy"
      value    = "same-origin"
      override = true
    }
  }

  security_headers_config {
    content_security_policy {
      override = true
      content_security_policy = join("; ", [
        "default-src 'none'", "script-src 'self' ${local.first_paint.js}", "style-src 'self' ${local.first_paint.css}",
        "img-src 'self'",
        "connect-src 'self' ${join(" ", var.connections)}",
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

resource "aws_cloudfront_distribution" "this" {
  comment             = "Contact form of ${var.name}."
  enabled             = true
  is_ipv6_enabled     = true
  http_version        = "http2and3"
  price_class         = "PriceClass_100"
  default_root_object = "index.html"
  aliases             = var.domain[*].name

  origin {
    origin_id                = "bucket"
    domain_name              = aws_s3_bucket.this.bucket_regional_domain_name
    origin_access_control_id = aws_cloudfront_origin_access_control.this.id
  }

  default_cache_behavior {
    target_origin_id       = "bucket"
    viewer_protocol_policy = "redirect-to-https"
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    compress               = true

    # AWS's own, which follows Cache-Control, compresses, and forwards no cookies or queries.
    cache_policy_id            = "658327ea-f89d-4fab-a63d-7e88639e58f6"
    response_headers_policy_id = aws_cloudfront_response_headers_policy.this.id
  }

  # S3 answers 403 for a missing file, since CloudFront may not list the bucket.
  custom_error_response {
    error_code         = 403
    response_code      = 404
    response_page_path = "/404.html"
  }

  restrictions {
    geo_restriction { restriction_type = "none" }
  }

  viewer_certificate {
    cloudfront_default_certificate = var.domain == null
    acm_certificate_arn            = try(var.domain.certificate_arn, null)
    ssl_support_method             = var.domain == null ? null : "sni-only"
    minimum_protocol_version       = var.domain == null ? "TLSv1" : "TLSv1.2_2021"
  }
}

# CloudFront delivers its logs in this region only (CreateDelivery, "standard logging v2").
resource "aws_cloudwatch_log_group" "requests" {
  for_each = toset([for days in var.log_retention_days[*] : "form"])
  provider = aws.us_east_1

  name              = "/aws/vendedlogs/cloudfront/${var.name}"
  retention_in_days = var.log_retention_days
}

resource "aws_cloudwatch_log_delivery_source" "requests" {
  for_each = aws_cloudwatch_log_group.requests
  provider = aws.us_east_1

  name         = "${var.name}-form"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.this.arn
}

resource "aws_cloudwatch_log_delivery_destination" "requests" {
  for_each = aws_cloudwatch_log_group.requests
  provider = aws.us_east_1

  name          = "${var.name}-form"
  output_format = "json"

  delivery_destination_configuration { destination_resource_arn = each.value.arn }
}

resource "aws_cloudwatch_log_delivery" "requests" {
  for_each = aws_cloudwatch_log_delivery_source.requests
  provider = aws.us_east_1

  delivery_source_name     = each.value.name
  delivery_destination_arn = aws_cloudwatch_log_delivery_destination.requests[each.key].arn

  record_fields = ["date", "time", "c-ip", "cs-method", "cs-uri-stem", "sc-status", "x-edge-location", "x-edge-result-type"]
}

output "bucket" {
  description = "Where the files are."
  value       = aws_s3_bucket.this
}

output "distribution" {
  description = "What serves them."
  value       = aws_cloudfront_distribution.this
}
