/** The function and the inbox send what their policies (infra/terraform) allow, and nothing else. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createOwnStore, describeOnEngines } from '../helpers/engines.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';

const operators = readText('infra/terraform/bootstrap/policies.tf');
const [, answer = ''] = /^ {2}answer = \{(.*?)^ {2}erase = /ms.exec(operators) ?? [];
/** The actions on tables in a policy; what is followed by a value is a condition. */
const actionsIn = (text: string) =>
  new Set(Array.from(text.matchAll(/"dynamodb:(\w+)"(?! *=)/g), ([, action = '']) => action));

interface Input {
  readonly TransactItems?: readonly object[];
  readonly Key?: object;
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
}

/** @returns What the client sends from now on: of a transaction, the actions of its items, which IAM checks. */
function record({ middlewareStack }: Pick<DynamoDBClient, 'middlewareStack'>) {
  const sent: { action: string; input: Input }[] = [];
  middlewareStack.add(
    (next, { commandName = '' }) =>
      (request) => {
        const input = request.input as Input;
        const items = input.TransactItems?.flatMap((item) => Object.keys(item));
        const names = items?.map((name) => `${name}Item`) ?? [commandName.replace('Command', '')];
        sent.push(...names.map((action) => ({ action, input })));
        return next(request);
      },
    { step: 'initialize' },
  );
  return sent;
}

describeOnEngines('the policies', (endpoint, engine) => {
  it('allow the function to store, to list and to look up inquiries, and nothing that it does not send', async () => {
    const own = await createOwnStore(endpoint);
    const client = createDynamoDbClient({ region: 'local' });
    const sent = record(client);
    const store = createInquiryStore(client, own.name);
    const owner = { sub: INQUIRY.cognito_sub, email: INQUIRY.email };
    // Its own id: the engine remembers transactions by it, those of other tests, too.
    const inquiry = { ...INQUIRY, id: '01a1f794-6f77-70a2-a975-366ad3f1860b' };
    await store.put(inquiry, makeCall());
    expect(await Array.fromAsync(store.list(owner, {}, makeCall()))).toEqual([[inquiry]]);
    // dynalite has no transactions, and refuses this one after it was recorded.
    const options = { key: 'k', limit: { most: 1, time: 0 } };
    await store.put(inquiry, makeCall(), options).catch((error: unknown) => {
      if (engine !== 'dynalite') throw error;
    });
    const allowed = actionsIn(readText('infra/terraform/function.tf'));
    expect(new Set(sent.map(({ action }) => action))).toEqual(allowed);
  });

  it('allow operators to list, read, answer and dismiss, and no other column is set', async () => {
    const own = await createOwnStore(endpoint);
    const [first, second] = [INQUIRY.id, '01a1f7a8-96d1-78c6-a4ab-07c41d3c9583'];
    for (const id of [first, second]) await own.store.put({ ...INQUIRY, id }, makeCall());

    const sent = record(own.client);
    const inbox = createInbox(own.client, own.name);
    expect((await Array.fromAsync(inbox.list())).flat()).toHaveLength(2);
    await inbox.answer(first, { reply: 'yes', respondent: 'ana' });
    await inbox.answer(second, { respondent: 'ana' });
    expect(await inbox.get(first)).toMatchObject({ reply: 'yes', respondent: 'ana' });

    expect(sent.filter(({ action }) => !actionsIn(answer).has(action))).toEqual([]);
    const update = sent.find(({ action }) => action === 'UpdateItem');
    const { Key = {}, UpdateExpression, ConditionExpression } = update?.input ?? {};
    // Placeholders and functions are none.
    const names = `${UpdateExpression} ${ConditionExpression}`.match(
      /(?<![:\w])[a-z]\w*\b(?! *\()/g,
    );
    const columns = [...Object.keys(Key), ...(names ?? [])];
    const [, allowed = ''] = /"dynamodb:Attributes" = \[(.*?)\]/.exec(answer) ?? [];
    expect(new Set(columns)).toEqual(new Set(allowed.match(/\w+/g)));
  });
});
