terraform {
  required_version = ">= 1.10"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # Of 6.x exactly the newest of these: from 6.17 to 6.28 every plan changes the table's index
      # (hashicorp/terraform-provider-aws#44692). 5.100 is what the tests use where there is no registry.
      version = ">= 5.100.0, <= 6.31.0"
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
  account_id = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  region     = data.aws_region.current.id

  tags = { service = var.name, stage = local.stage, managed_by = "terraform" }
}

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}
