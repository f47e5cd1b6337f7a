# Applied by `npm run bootstrap`, once per account and region.

terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.47, < 7" # ../versions.tf
    }
  }

  backend "s3" {
    key          = "inquiries/bootstrap.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}

# No tag `stage`: these resources belong to no stage.
provider "aws" {
  region = var.region

  default_tags { tags = { service = var.name, managed_by = "terraform" } }
}

provider "aws" {
  alias  = "us_east_1"
  region = "us-east-1"
}
