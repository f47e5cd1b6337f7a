/** Whether a stage's role of GitHub may change what the stage has: that an administrator may does not show it. */
import { IAM } from '@aws-sdk/client-iam';
import { NETWORK } from '../../lib/aws/aws.ts';
import type { Stage } from '../../lib/aws/stages.ts';
import { assert } from '../../lib/contract/contract-checks.ts';
import type { Resource } from '../stage.ts';
import { ask, type Check } from './run-checks.ts';

/** How a deployment changes resources, by type; data are never touched. */
const ACTIONS: Record<string, readonly string[]> = {
  aws_apigatewayv2_api: ['apigateway:PATCH'],
  aws_cloudfront_distribution: ['cloudfront:UpdateDistribution', 'cloudfront:CreateInvalidation'],
  aws_cloudwatch_log_group: ['logs:PutRetentionPolicy'],
  aws_cloudwatch_metric_alarm: ['cloudwatch:PutMetricAlarm'],
  aws_cognito_user_pool: ['cognito-idp:UpdateUserPool', 'cognito-idp:AdminCreateUser'],
  aws_dynamodb_table: ['dynamodb:DescribeTable', 'dynamodb:DescribeContinuousBackups'],
  aws_iam_role: ['iam:GetRole', 'iam:PassRole'],
  aws_lambda_function: [
    'lambda:UpdateFunctionCode',
    'lambda:UpdateFunctionConfiguration',
    'lambda:PublishVersion',
    'lambda:UpdateAlias',
  ],
  aws_s3_bucket: ['s3:ListBucket'],
  aws_sns_topic: ['sns:SetTopicAttributes'],
  aws_sqs_queue: ['sqs:SetQueueAttributes'],
};

/** @param PolicySourceArn - The role. @param resources - Of the stage's state. */
export function createRoleChecks(
  PolicySourceArn: string,
  stage: Stage,
  service: string,
  resources: readonly Resource[],
): Check[] {
  const iam = new IAM(NETWORK);
  const context = {
    'aws:ResourceTag/service': service,
    'aws:ResourceTag/stage': stage,
    'iam:PassedToService': 'lambda.amazonaws.com',
  };
  const ContextEntries = Object.entries(context).map(([ContextKeyName, value]) => ({
    ContextKeyName,
    ContextKeyType: 'string' as const,
    ContextKeyValues: [value],
  }));
  return resources.flatMap(({ type, arn }): Check[] => {
    const ActionNames = [...(ACTIONS[type] ?? [])];
    if (ActionNames.length === 0) return [];
    const simulate = async (): Promise<void> => {
      const request = { PolicySourceArn, ActionNames, ResourceArns: [arn], ContextEntries };
      const { EvaluationResults = [] } = await iam.simulatePrincipalPolicy(request);
      const denied = EvaluationResults.filter(({ EvalDecision }) => EvalDecision !== 'allowed');
      const names = denied.map(({ EvalActionName }) => EvalActionName);
      assert(names.length === 0, `not allowed: ${names.join(', ')} (docs/roles.md)`);
    };
    return [[`${stage}: ${arn.split(':').slice(5).join(':')}`, ask(simulate)]];
  });
}
