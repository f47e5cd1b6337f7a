terraform {
  required_version = ">= 1.10"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100.0, < 7.0.0"
    }
  }

  # Partial on purpose: bucket and region belong to an account and come from `terraform init -backend-config=…`,
  # so an unconfigured checkout cannot write a second, local state of a live stage by accident.
  # For a first try without a bucket, see backend_override.tf.example.
  backend "s3" {
    key          = "inquiries/terraform.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}

# Credentials and endpoints come from the environment alone (AWS_PROFILE, AWS_ENDPOINT_URL, …).
provider "aws" {
  region = var.region

  default_tags {
    tags = {
      service    = var.name
      stage      = local.stage
      managed_by = "terraform"
    }
  }
}
