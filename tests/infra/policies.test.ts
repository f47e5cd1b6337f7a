/** The function and the inbox send only what their policies (infra/terraform) allow. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createOwnStore, describeOnEngines } from '../helpers/engines.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';

const policies = readText('infra/terraform/bootstrap/policies.tf');
const wordsIn = (text: string): string[] => text.match(/[\w:]+/g) ?? [];
const actionsOf = (sid: string, text = policies): string[] =>
  wordsIn(
    new RegExp(`\\b${sid}"? =>? \\{[^{}]*?Action\\s+= (\\[.*?\\]|".*?")`).exec(text)?.[1] ?? '',
  );
const [answerAttributes = []] = [...policies.matchAll(/"dynamodb:Attributes" = \[(.*?)\]/g)].map(
  ([, list = '']) => wordsIn(list),
);

interface Input {
  /** Of a transaction: the actions that IAM checks are those of its items. */
  TransactItems?: object[];
  Key?: object;
  UpdateExpression?: string;
  ConditionExpression?: string;
}

/** Names of attributes in an update; placeholders and functions are none. */
const attributesOf = ({
  Key = {},
  UpdateExpression = '',
  ConditionExpression = '',
}: Input): string[] => {
  const expressions = `${UpdateExpression} ${ConditionExpression}`;
  const names = [...expressions.matchAll(/(?<![:\w])[a-z]\w*\b(?! *\()/g)].map(([name]) => name);
  return [...Object.keys(Key), ...names];
};

/** @returns What the client sends from now on: each action that IAM checks, and its input. */
function record(client: { middlewareStack: DynamoDBClient['middlewareStack'] }) {
  const sent: { action: string; input: Input }[] = [];
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (request) => {
        const input = request.input as Input;
        const names = input.TransactItems?.flatMap((item) =>
          Object.keys(item).map((name) => `${name}Item`),
        );
        for (const name of names ?? [commandName.replace('Command', '')]) {
          sent.push({ action: `dynamodb:${name}`, input });
        }
        return next(request);
      },
    { step: 'initialize' },
  );
  return sent;
}

describeOnEngines('the policy of the function', (endpoint, engine) => {
  it('allows what it sends to store, to list and to look up inquiries, and nothing that it does not send', async () => {
    const own = await createOwnStore(endpoint);
    const client = createDynamoDbClient({ region: 'local' });
    const sent = record(client);
    const store = createInquiryStore(client, own.table);
    const owner = { sub: INQUIRY.cognito_sub, email: INQUIRY.email };
    await store.put(INQUIRY, makeCall());
    expect(await Array.fromAsync(store.list(owner, {}, makeCall()))).toEqual([[INQUIRY]]);
    // dynalite has no transactions, and refuses this one after it was recorded.
    const options = { key: 'k', limit: { most: 1, time: 0 } };
    await store.put(INQUIRY, makeCall(), options).catch((error: unknown) => {
      if (engine !== 'dynalite') throw error;
    });
    expect(sent.map(({ action }) => action)).toEqual(
      ['PutItem', 'Query', 'PutItem', 'UpdateItem', 'PutItem'].map((name) => `dynamodb:${name}`),
    );
    const policy = readText('infra/terraform/function.tf');
    const allowed = ['Inquiries', 'Rates'].flatMap((sid) => actionsOf(sid, policy)).toSorted();
    expect([...new Set(sent.map(({ action }) => action))].toSorted()).toEqual(allowed);
  });
});

describeOnEngines('the policies of operators', (endpoint) => {
  it('allow to list, read, answer and dismiss, and no other column is set', async () => {
    const own = await createOwnStore(endpoint);
    const [first, second] = [INQUIRY.id, '01a1f7a8-96d1-78c6-a4ab-07c41d3c9583'];
    for (const id of [first, second]) await own.store.put({ ...INQUIRY, id }, makeCall());

    const sent = record(own.client);
    const inbox = createInbox(own.client, own.table);
    expect((await Array.fromAsync(inbox.list())).flat()).toHaveLength(2);
    await inbox.answer(first, { reply: 'yes', respondent: 'ana' });
    await inbox.answer(second, { respondent: 'ana' });
    expect(await inbox.get(first)).toMatchObject({ reply: 'yes', respondent: 'ana' });

    const allowed = ['Read', 'Answer'].flatMap((sid) => actionsOf(sid));
    expect(allowed).toContain('dynamodb:UpdateItem');
    expect(sent.filter(({ action }) => !allowed.includes(action))).toEqual([]);
    const updates = sent.filter(({ action }) => action === 'dynamodb:UpdateItem');
    const attributes = new Set(updates.flatMap(({ input }) => attributesOf(input)));
    expect([...attributes].toSorted()).toEqual(answerAttributes.toSorted());
  });
});
