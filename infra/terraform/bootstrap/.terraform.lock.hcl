# Written by hand without hashes, which the first `terraform init` adds: the oldest provider that was run with this module.
provider "registry.terraform.io/hashicorp/aws" {
  version     = "6.47.0"
  constraints = ">= 6.47.0, < 7.0.0"
}
