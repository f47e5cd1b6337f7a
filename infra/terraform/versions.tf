terraform {
  required_version = ">= 1.10"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100.0, < 7.0.0"
    }
  }

  # A partial configuration: bucket and region belong to an account and come from `terraform init -backend-config=…`. So a
  # checkout without them cannot create a second, local state of a deployed stage. For local state, see
  # backend_override.tf.example. docs/adr/0021
  backend "s3" {
    key          = "inquiries/terraform.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}

# Credentials and endpoints come from the environment (AWS_PROFILE, AWS_ENDPOINT_URL, …).
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
