# What a plan refuses, one run each; `npm run check:infra` runs this file in the workspace develop. The wording of every
# refusal, and the rarer ones, are held by tests/repository/infra.test.ts, which needs no provider.

mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  runtime      = "nodejs22.x"
  package_file = "versions.tf"

  stages = {
    develop = {
      issuer      = "https://issuer.example.com"
      audience    = ["client"]
      cors_origin = "https://www.example.com"
    }
  }
}

# Without this run, a mistake in the settings that the others vary would make each of them pass.
run "accepts_the_settings_that_the_others_vary" {
  command = plan
}

run "refuses_a_stage_without_settings" {
  command = plan

  variables {
    stages = {}
  }

  expect_failures = [var.stages]
}

run "refuses_settings_of_a_stage_that_does_not_exist" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
      }
      production = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_a_mistake_in_another_stage_too" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
      }
      release = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "*"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_an_issuer_without_https" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "http://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_every_origin" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "*"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_an_origin_with_a_trailing_slash" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com/"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_an_origin_with_a_path" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com/contact"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_an_empty_audience" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = []
        cors_origin = "https://www.example.com"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_a_blank_client_id" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client", ""]
        cors_origin = "https://www.example.com"
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_a_rate_limit_of_0" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
        throttling  = { rate_limit = 0, burst_limit = 10 }
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_a_burst_limit_of_0" {
  command = plan

  variables {
    stages = {
      develop = {
        issuer      = "https://issuer.example.com"
        audience    = ["client"]
        cors_origin = "https://www.example.com"
        throttling  = { rate_limit = 10, burst_limit = 0 }
      }
    }
  }

  expect_failures = [var.stages]
}

run "refuses_a_package_that_is_not_built" {
  command = plan

  variables {
    package_file = "../../dist/not-built.zip"
  }

  expect_failures = [var.package_file]
}
