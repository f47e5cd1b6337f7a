variable "name" {
  description = "Name of the function."
  type        = string
}

variable "description" {
  description = "What the function does."
  type        = string
}

variable "package_file" {
  description = "Its zip, as `npm run build` makes it."
  type        = string
}

variable "handler" {
  description = "File and export in the package."
  type        = string
}

variable "memory_mb" {
  description = "Memory of an instance."
  type        = number
}

variable "timeout_seconds" {
  description = "Longest duration of an invocation."
  type        = number
}

variable "reserved_concurrency" {
  description = "Most instances at a time, taken from the account's pool; null: the pool's."
  type        = number
  default     = null
}

variable "environment" {
  description = "Variables of the environment; those that are null are left out."
  type        = map(string)
}

variable "statements" {
  description = "What the function's role is allowed, by Sid, besides its own log, traces, stream and queue; those that are null are left out."
  type = map(object({
    Action    = list(string)
    Resource  = list(string)
    Condition = optional(map(map(list(string))))
  }))
}

variable "callers" {
  description = "Services of AWS that may invoke the live version, by statement id."
  type        = map(object({ principal = string, source_arn = string }))
  default     = {}
}

variable "stream" {
  description = "The stream of a table that Lambda reads for the function; null: none."
  type = object({
    arn                           = string
    filter                        = string # JSON
    parallelization_factor        = optional(number, 1)
    maximum_record_age_in_seconds = optional(number, -1) # -1: as long as the stream has them
    dead_letter_arn               = string
  })
  default = null
}

variable "queue" {
  description = "The queue that Lambda reads for the function; null: none."
  type = object({
    arn                 = string
    maximum_concurrency = optional(number) # at least 2; unset: the function's
  })
  default = null
}

variable "live_version" {
  description = "Version that is live in place of the newest; null: the newest."
  type        = string
}

variable "shared" {
  description = "What the functions of a stage have in common."
  type = object({
    region               = string
    permissions_boundary = string
    log_retention_days   = number
    tracing              = bool
  })
}
