# Provider 5.100 refuses runtimes after nodejs22.x, also when it is mocked.
resource "aws_lambda_function" "this" { runtime = replace(local.runtime, "24", "22") }
