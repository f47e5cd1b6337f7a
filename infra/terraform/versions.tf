terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # The oldest that was run with this module (docs/aws-evidence.md).
      version = ">= 6.47, < 7"
    }
  }

  # Bucket and region come from `terraform init -backend-config=…`, so that a checkout without them cannot create a
  # second, local state. docs/adr/0020
  backend "s3" {
    bucket       = "none"
    region       = "(none: run npm run bootstrap, or copy backend.s3.tfbackend.example to backend.s3.tfbackend; then terraform init -backend-config=backend.s3.tfbackend)"
    key          = "inquiries/terraform.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}

provider "aws" {
  region = var.region

  default_tags { tags = local.tags }
}

# CloudFront's certificates and Route 53's metrics are in this region.
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
