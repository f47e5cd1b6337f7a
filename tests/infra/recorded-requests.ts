import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

interface Input {
  TransactItems?: object[];
  IndexName?: string;
  Key?: Record<string, string>;
  UpdateExpression?: string;
  ConditionExpression?: string;
}
type RecordedRequest = readonly [action: string, input: Input];

/** @returns What the client sends; of a transaction, its items' actions, which IAM checks. */
export function recordRequests({ middlewareStack }: Pick<DynamoDBClient, 'middlewareStack'>) {
  const sent: RecordedRequest[] = [];
  middlewareStack.add(
    (next, { commandName = '' }) =>
      (request) => {
        const input = request.input as Input;
        const items = input.TransactItems?.flatMap((item) => Object.keys(item));
        const names = items?.map((name) => `${name}Item`) ?? [commandName.replace('Command', '')];
        sent.push(...names.map((name) => [`dynamodb:${name}`, input] as const));
        return next(request);
      },
    { step: 'initialize' },
  );
  return sent;
}
