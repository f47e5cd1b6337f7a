# Provider 5.100 refuses runtimes after nodejs22.x, also when it is mocked.
locals { runtime = "nodejs22.x" }
