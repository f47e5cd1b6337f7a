# For tests without a registry: the newest provider that is packaged for offline use. It is copied beside versions.tf.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "5.100.0"
    }
  }
}
