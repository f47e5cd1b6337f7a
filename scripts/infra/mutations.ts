/** The mistakes that `npm run mutate:infra` makes, one at a time, in infra/terraform. */
import type { Stage } from './terraform.ts';

export interface Mutation {
  readonly name: string;
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** The stage whose tests run; by default develop. */
  readonly stage?: Stage;
  /** Why no test needs to notice it. */
  readonly survives?: string;
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the comparisons of all alarms are reversed',
    file: 'observability.tf',
    from: '"GreaterThanThreshold"',
    to: '"LessThanThreshold"',
  },
  {
    name: 'the threshold of all alarms is 1,000',
    file: 'observability.tf',
    from: 'threshold           = each.value.threshold',
    to: 'threshold           = 1000',
  },
  {
    name: 'the expression of the 5xx alarm is always 0',
    file: 'observability.tf',
    from: '100 * (failures - not_json)',
    to: '0 * (failures - not_json)',
  },
  {
    name: 'the issuer alarm rings at one refused request',
    file: 'observability.tf',
    from: 'IF(refused >= 10,',
    to: 'IF(refused >= 1,',
  },
  {
    name: 'the issuer alarm has no zeros of admitted requests',
    file: 'observability.tf',
    from: `      value         = "1"
      default_value = "0"`,
    to: `      value         = "1"
      default_value = null`,
  },
  {
    name: 'the alarm of the form is silent when Route 53 stops looking',
    file: 'observability.tf',
    from: 'treat_missing_data = "breaching"',
    to: 'treat_missing_data = "notBreaching"',
  },
  {
    name: 'the health check asks over plain HTTP',
    file: 'observability.tf',
    from: 'type              = "HTTPS"',
    to: 'type              = "HTTP"',
  },
  {
    name: 'the dashboard is empty',
    file: 'observability.tf',
    from: 'dashboard_rows = [for row in local.all_dashboard_rows : row if',
    to: 'dashboard_rows = [for row in local.all_dashboard_rows : row if false &&',
  },
  {
    name: 'the state is not locked',
    file: 'versions.tf',
    from: 'use_lockfile = true',
    to: 'use_lockfile = false',
  },
  {
    name: 'the state is not encrypted',
    file: 'versions.tf',
    from: 'encrypt      = true',
    to: 'encrypt      = false',
  },
  {
    name: 'the state has another key',
    file: 'versions.tf',
    from: '"inquiries/terraform.tfstate"',
    to: '"terraform.tfstate"',
  },
  {
    name: 'resources have no tags',
    file: 'versions.tf',
    from: `  region = var.region

  default_tags {
    tags = local.tags
  }`,
    to: '  region = var.region',
  },
  {
    name: 'the tag of the stage is another',
    file: 'versions.tf',
    from: 'stage      = local.stage',
    to: 'stage      = local.name',
  },
  {
    name: 'preflights are not cached',
    file: 'api.tf',
    from: 'max_age        = 3600',
    to: 'max_age        = 0',
  },
  {
    name: 'any origin may call',
    file: 'api.tf',
    from: 'allow_origins  = [local.cors_origin]',
    to: 'allow_origins  = ["*"]',
  },
  {
    name: 'the routes have no authorizer',
    file: 'api.tf',
    from: 'authorization_type = "JWT"',
    to: 'authorization_type = "NONE"',
  },
  {
    name: 'the gateway calls the newest code instead of the alias',
    file: 'api.tf',
    from: 'aws_lambda_alias.live.invoke_arn',
    to: 'aws_lambda_function.this.invoke_arn',
  },
  {
    name: 'the gateway throttles every request (one limit is missing)',
    file: 'api.tf',
    from: '    throttling_burst_limit = local.settings.throttling.burst_limit\n',
    to: '',
  },
  {
    name: 'the access log has addresses of users',
    file: 'api.tf',
    from: 'requestId          = "$context.requestId"',
    to: 'requestId          = "$context.requestId"\n    address            = "$context.identity.sourceIp"',
  },
  {
    name: 'every route of every API may invoke the function',
    file: 'api.tf',
    from: '/*/${each.key}/inquiries"',
    to: '/*"',
  },
  {
    name: 'the function may do everything with the table',
    file: 'function.tf',
    from: '["dynamodb:PutItem", "dynamodb:Query"]',
    to: '["dynamodb:*"]',
  },
  {
    name: 'the function has another architecture',
    file: 'function.tf',
    from: 'architectures    = ["arm64"]',
    to: 'architectures    = ["x86_64"]',
  },
  {
    name: "the function's log is kept for a day",
    file: 'function.tf',
    from: 'retention_in_days = local.settings.log_retention_days',
    to: 'retention_in_days = 1',
  },
  {
    name: 'the tables of main can be deleted',
    file: 'stages.tf',
    from: 'local.stage != "develop"',
    to: 'local.stage == "release"',
    stage: 'main',
  },
  {
    name: 'the stream has no old images',
    file: 'table.tf',
    from: '"NEW_AND_OLD_IMAGES"',
    to: '"NEW_IMAGE"',
  },
  {
    name: 'the index stores the texts a second time',
    file: 'table.tf',
    from: '"cognito_sub", "email", "created_at"',
    to: '"body", "cognito_sub", "email", "created_at"',
  },
  {
    name: 'nothing expires',
    file: 'table.tf',
    from: 'attribute_name = "expires_at"',
    to: 'attribute_name = "expires"',
  },
  {
    name: 'the inquiries cannot be restored',
    file: 'table.tf',
    from: `"NEW_AND_OLD_IMAGES"

  point_in_time_recovery {
    enabled                 = true`,
    to: `"NEW_AND_OLD_IMAGES"

  point_in_time_recovery {
    enabled                 = false`,
  },
  {
    name: "the table does not use the customer's key",
    file: 'table.tf',
    from: `a key that AWS owns.
  dynamic "server_side_encryption" {
    for_each = local.settings.table_kms_key_arn[*]`,
    to: `a key that AWS owns.
  dynamic "server_side_encryption" {
    for_each = []`,
    stage: 'main',
  },
  {
    name: 'the mailer may send from any address',
    file: 'mailer.tf',
    from: '"ses:FromAddress" = local.inbox.from',
    to: '"ses:FromAddress" = "*"',
  },
  {
    name: 'who erases may write whole rows',
    file: 'operators.tf',
    from: '"dynamodb:Attributes" = ["pk", "sk"] }',
    to: '"dynamodb:Attributes" = ["pk", "sk", "body"] }',
  },
  {
    name: "the form's client has a secret",
    file: 'identity.tf',
    from: 'generate_secret                      = false',
    to: 'generate_secret                      = true',
  },
  {
    name: "the form's client has the implicit grant",
    file: 'identity.tf',
    from: 'allowed_oauth_flows                  = ["code"]',
    to: 'allowed_oauth_flows                  = ["code", "implicit"]',
  },
  {
    name: 'the user pool of main can be deleted',
    file: 'identity.tf',
    from: 'local.deletion_protection_enabled ? "ACTIVE" : "INACTIVE"',
    to: '"INACTIVE"',
    stage: 'main',
  },
  {
    name: 'the bucket may be made public',
    file: 'site.tf',
    from: 'block_public_policy     = true',
    to: 'block_public_policy     = false',
  },
  {
    name: 'the distributions of all accounts may read the bucket',
    file: 'site.tf',
    from: '        Condition = { StringEquals = { "AWS:SourceArn" = aws_cloudfront_distribution.site[0].arn } }\n',
    to: '',
  },
  {
    name: 'the form is served over plain HTTP',
    file: 'site.tf',
    from: '"redirect-to-https"',
    to: '"allow-all"',
  },
  {
    name: 'CloudFront does not sign its requests to the bucket',
    file: 'site.tf',
    from: 'signing_behavior                  = "always"',
    to: 'signing_behavior                  = "never"',
  },
  {
    name: 'other pages may frame the form',
    file: 'site.tf',
    from: `, "frame-ancestors 'none'"`,
    to: '',
  },
  {
    name: 'the form has no security headers',
    file: 'site.tf',
    from: '    response_headers_policy_id = aws_cloudfront_response_headers_policy.site[0].id\n',
    to: '',
  },
  {
    name: "the style of the form's first paint is not allowed",
    file: 'site.tf',
    from: ' ${local.first_paint.css}',
    to: '',
  },
  {
    name: "other pages cannot load the form's element",
    file: 'site.tf',
    from: `    access_control_allow_origins {
      items = ["*"]`,
    to: `    access_control_allow_origins {
      items = ["https://www.example.com"]`,
  },
  {
    name: "the form's settings include those that are not set",
    file: 'site.tf',
    from: ' : key => value if value != null }',
    to: ' : key => value }',
  },
  {
    name: 'a domain is used before its record exists',
    file: 'domains.tf',
    from: 'domain.certificate_arn != null ? "certificate"',
    to: 'domain.certificate_arn != null ? "all"',
  },
  {
    name: 'a protected stage can be destroyed in part',
    file: 'guard.tf',
    from: 'is_protected = local.deletion_protection_enabled',
    to: 'is_protected = false',
    stage: 'main',
  },
  {
    name: 'the address of the API has a slash too many',
    file: 'api.tf',
    from: 'aws_apigatewayv2_api.this.api_endpoint',
    to: '"${aws_apigatewayv2_api.this.api_endpoint}/"',
  },
];
