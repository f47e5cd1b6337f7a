# Applied once per account and region by `npm run bootstrap`, before any stage: the bucket of the state and what GitHub needs.
# It has a state of its own, which the bucket holds, too.

terraform {
  required_version = ">= 1.10"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100.0, < 7.0.0"
    }
  }

  backend "s3" {
    key          = "inquiries/bootstrap.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}

# No tag `stage`: the roles of stages are denied whatever has the tag of another one.
provider "aws" {
  region = var.region

  default_tags {
    tags = {
      service    = var.name
      managed_by = "terraform"
    }
  }
}
