terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # 6.17 to 6.28 change the table's index in every plan (hashicorp/terraform-provider-aws#44692), 6.29 to 6.34
      # refuse some indexes (#46285, #46322) or plan them again (#46335). Fixed by #46094, #46442 and #47427. With
      # `key_schema`, removing an index still recreates all others (#46601, open), so that the table's index has the
      # deprecated hash_key and range_key. docs/aws-evidence.md
      version = "~> 6.62.0"
    }
  }

  # A partial configuration: bucket and region belong to an account and come from `terraform init
  # -backend-config=…`. So a checkout without them cannot create a second, local state of a deployed stage.
  # For local state, see backend_override.tf.example. docs/adr/0020
  backend "s3" {
    # Without -backend-config, Terraform refuses this region and prints it.
    bucket       = "none"
    region       = "(none: run npm run bootstrap, or copy backend.s3.tfbackend.example to backend.s3.tfbackend; then terraform init -backend-config=backend.s3.tfbackend)"
    key          = "inquiries/terraform.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}

# Credentials and endpoints come from the environment (AWS_PROFILE, AWS_ENDPOINT_URL, …).
provider "aws" {
  region = var.region

  default_tags { tags = local.tags }
}

# CloudFront takes its certificates from this region only, and Route 53 writes its metrics there.
provider "aws" {
  alias  = "us_east_1"
  region = "us-east-1"

  default_tags { tags = local.tags }
}

locals {
  region = data.aws_region.current.id

  tags = { service = var.name, stage = local.stage, managed_by = "terraform" }
}

data "aws_region" "current" {}
