# Alarms of one region with the topic that they are sent to: CloudWatch notifies topics of its own region only.

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

variable "alarms" {
  description = <<-EOT
    An alarm by its name, on a `metric`, or on an `expression` over `queries`. It is raised above `threshold`, or below
    `minimum` where that is set, in one `period` of seconds; with `is_slow`, in two of the last three. Missing data is not
    breaching, because there is none without requests, unless `needs_data` is set. With `is_ticket` it is mailed, but pages
    nobody: a stranger or one user can raise it.
  EOT
  type = map(object({
    description = string
    threshold   = optional(number, 0)
    minimum     = optional(number)
    period      = optional(number, 300)
    is_slow     = optional(bool, false)
    needs_data  = optional(bool, false)
    is_ticket   = optional(bool, false)
    metric      = optional(object({ namespace = string, name = string, stat = string, dimensions = optional(map(string)) }))
    expression  = optional(string)
    queries = optional(map(object({
      namespace = string, name = string, stat = string, dimensions = optional(map(string))
    })), {})
  }))
}

locals {
  addresses = toset(length(var.alarms) > 0 ? var.email[*] : [])
  mail      = values(aws_sns_topic.this)[*].arn
  pages     = [for arn in var.topic_arns : arn if split(":", arn)[3] == data.aws_region.this.id]
}

data "aws_region" "this" {}

# Not encrypted with alias/aws/sns: CloudWatch may not use that key, so notifications would fail without
# notice. They contain names of metrics and thresholds only.
resource "aws_sns_topic" "this" {
  for_each = local.addresses

  name = var.topic_name
}

# AWS sends a confirmation mail; until its link is opened, no alarm is delivered.
resource "aws_sns_topic_subscription" "this" {
  for_each = local.addresses

  topic_arn = aws_sns_topic.this[each.key].arn
  protocol  = "email"
  endpoint  = each.key
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = var.alarms

  alarm_name        = "${var.name}-${each.key}"
  alarm_description = each.value.description

  namespace   = try(each.value.metric.namespace, null)
  metric_name = try(each.value.metric.name, null)
  dimensions  = try(each.value.metric.dimensions, null)
  statistic   = try(each.value.metric.stat, null)
  period      = each.value.metric == null ? null : each.value.period

  comparison_operator = each.value.minimum == null ? "GreaterThanThreshold" : "LessThanThreshold"
  threshold           = coalesce(each.value.minimum, each.value.threshold)
  evaluation_periods  = each.value.is_slow ? 3 : 1
  datapoints_to_alarm = each.value.is_slow ? 2 : 1
  treat_missing_data  = each.value.needs_data ? "breaching" : "notBreaching"

  actions_enabled = true
  alarm_actions   = concat(local.mail, each.value.is_ticket ? [] : local.pages)
  ok_actions      = concat(local.mail, each.value.is_ticket ? [] : local.pages)

  dynamic "metric_query" {
    for_each = each.value.queries

    content {
      id          = metric_query.key
      return_data = false

      metric {
        namespace   = metric_query.value.namespace
        metric_name = metric_query.value.name
        dimensions  = metric_query.value.dimensions
        stat        = metric_query.value.stat
        period      = each.value.period
      }
    }
  }

  dynamic "metric_query" {
    for_each = each.value.expression[*]

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

output "subscriptions" {
  description = "Who gets them by mail."
  value       = values(aws_sns_topic_subscription.this)
}

output "topics" {
  description = "What they are sent to."
  value       = values(aws_sns_topic.this)
}
