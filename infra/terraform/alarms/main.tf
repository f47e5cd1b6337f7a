# Alarms of one region and their topic: CloudWatch notifies topics of its own region only.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "name" {
  description = "The stage's name, with which the names of the alarms begin."
  type        = string
}

variable "topic_name" {
  description = "Name of the topic; there is none without an address or without alarms."
  type        = string
}

variable "email" {
  description = "Address that alarms are mailed to; null: no mail."
  type        = string
}

variable "topic_arns" {
  description = "Topics of the team's own, in any region; those of this region get the alarms that are no tickets."
  type        = list(string)
}

variable "metrics" {
  description = "Metrics by the names that expressions use."
  type = map(object({
    namespace  = string
    metric     = string
    dimensions = map(string)
    stat       = optional(string, "Sum")
  }))
}

variable "alarms" {
  description = "Alarms by their names, those of the sections in docs/runbook.md."
  type = map(object({
    description = string
    expression  = string # names of metrics, or one of them
    threshold   = optional(number, 0)
    minimum     = optional(number) # in place of `threshold`: raised below it
    period      = optional(number, 300)
    is_slow     = optional(bool, false) # raised in two of the last three periods instead of one
    needs_data  = optional(bool, false) # raised without data, as without requests
    is_ticket   = optional(bool, false) # a stranger or one user can raise it: mailed, but pages nobody
  }))
}

locals {
  addresses = toset(length(var.alarms) > 0 ? var.email[*] : [])
  mail      = values(aws_sns_topic.this)[*].arn
  pages     = [for arn in var.topic_arns : arn if split(":", arn)[3] == data.aws_region.this.id]
  actions   = { true = local.mail, false = concat(local.mail, local.pages) }
}

data "aws_region" "this" {}

# Not encrypted with alias/aws/sns, which CloudWatch may not use: notifications would fail without notice.
resource "aws_sns_topic" "this" {
  for_each = local.addresses

  name = var.topic_name
}

resource "aws_sns_topic_subscription" "this" {
  for_each = local.addresses

  topic_arn = aws_sns_topic.this[each.key].arn
  protocol  = "email"
  endpoint  = each.key
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = var.alarms

  alarm_name        = "${var.name}-${each.key}"
  alarm_description = "${each.value.description} See ${each.key} in docs/runbook.md."

  comparison_operator = each.value.minimum == null ? "GreaterThanThreshold" : "LessThanThreshold"
  threshold           = coalesce(each.value.minimum, each.value.threshold)
  evaluation_periods  = each.value.is_slow ? 3 : 1
  datapoints_to_alarm = each.value.is_slow ? 2 : 1
  treat_missing_data  = each.value.needs_data ? "breaching" : "notBreaching"

  alarm_actions = local.actions[each.value.is_ticket]
  ok_actions    = local.actions[each.value.is_ticket]

  dynamic "metric_query" {
    for_each = toset(regexall("[a-z][a-z0-9_]*", each.value.expression))

    content {
      id          = metric_query.key
      return_data = metric_query.key == each.value.expression

      metric {
        namespace   = var.metrics[metric_query.key].namespace
        metric_name = var.metrics[metric_query.key].metric
        dimensions  = var.metrics[metric_query.key].dimensions
        stat        = var.metrics[metric_query.key].stat
        period      = each.value.period
      }
    }
  }

  dynamic "metric_query" {
    for_each = contains(keys(var.metrics), each.value.expression) ? [] : [each.value.expression]

    content {
      id          = "figure"
      label       = each.key
      expression  = metric_query.value
      return_data = true
    }
  }
}

output "all" {
  description = "The alarms by their names."
  value       = aws_cloudwatch_metric_alarm.this
}

output "region" {
  description = "Where they are."
  value       = data.aws_region.this.id
}
