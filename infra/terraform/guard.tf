# Stops `terraform destroy` of a stage with deletion protection, which would delete API and logs and then fail at the
# table. Terraform begins with this resource, since it depends on everything that nothing else depends on.
resource "terraform_data" "guard" {
  input = {
    is_protected = local.deletion_protection_enabled
    message = join(" ", [
      "Stage ${local.stage} is protected: set deletion_protection_enabled = false and apply before you destroy it.",
      "Nothing was destroyed.",
    ])
  }

  provisioner "local-exec" {
    when        = destroy
    command     = self.output.is_protected ? "echo \"$MESSAGE\" >&2; exit 1" : "exit 0"
    environment = { MESSAGE = self.output.message }
    quiet       = true
  }

  depends_on = [
    aws_apigatewayv2_api_mapping.this, aws_apigatewayv2_route.this,
    aws_apigatewayv2_stage.this, aws_cloudwatch_dashboard.this, aws_cloudwatch_log_metric_filter.this,
    aws_dynamodb_table.erasures, aws_route53_record.address, module.alarms, module.alarms_us_east_1, module.function,
    module.identity, module.mailer, module.site, module.team, terraform_data.warm_throughput,
  ]
}
