/** The inbox sends only what the policies of operators (infra/terraform/operators.tf) allow. */
import { expect, it } from 'vitest';
import { createInbox } from '../../scripts/inbox/inbox.ts';
import { createOwnStore, describeOnEngines } from '../helpers/engines.ts';
import { readText } from '../helpers/repository.ts';

const policies = readText('infra/terraform/operators.tf');
const wordsIn = (text: string): string[] => text.match(/[\w:]+/g) ?? [];
const actionsOf = (sid: string): string[] =>
  wordsIn(new RegExp(`Sid\\s+= "${sid}"[^{}]*?Action\\s+= (.*)`).exec(policies)?.[1] ?? '');
const [answerAttributes = []] = [...policies.matchAll(/"dynamodb:Attributes" = \[(.*?)\]/g)].map(
  ([, list = '']) => wordsIn(list),
);

interface Input {
  Key?: object;
  UpdateExpression?: string;
  ConditionExpression?: string;
}

/** Names of attributes in an update; placeholders and functions are none. */
const attributesOf = ({ Key = {}, UpdateExpression = '', ConditionExpression = '' }: Input): string[] => {
  const expressions = `${UpdateExpression} ${ConditionExpression}`;
  const names = [...expressions.matchAll(/(?<![:\w])[a-z]\w*\b(?! *\()/g)].map(([name]) => name);
  return [...Object.keys(Key), ...names];
};

describeOnEngines('the policies of operators', (endpoint) => {
  it('allow to list, read, answer and dismiss, and no other column is set', async () => {
    const own = await createOwnStore(endpoint);
    const inquiry = {
      cognito_sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc',
      email: 'a@b.c',
      subject: '',
      body: '',
      created_at: new Date().toISOString(),
    };
    const call = { signal: AbortSignal.timeout(20_000), attempts: 0 };
    const ids = ['01a1b2c3-0000-7000-8000-000000000001', '01a1b2c3-0000-7000-8000-000000000002'];
    for (const id of ids) await own.store.put({ ...inquiry, id }, call);

    const sent: { action: string; input: Input }[] = [];
    own.client.middlewareStack.add(
      (next, { commandName }) =>
        (request) => {
          sent.push({
            action: `dynamodb:${commandName?.replace('Command', '')}`,
            input: request.input as Input,
          });
          return next(request);
        },
      { step: 'initialize' },
    );
    const inbox = createInbox(own.client, own.table);
    expect((await Array.fromAsync(inbox.list())).flat()).toHaveLength(2);
    const [first = '', second = ''] = ids;
    await inbox.answer(first, { reply: 'yes', respondent: 'ana' });
    await inbox.answer(second, { respondent: 'ana' });
    expect(await inbox.get(first)).toMatchObject({ reply: 'yes', respondent: 'ana' });

    const allowed = ['Read', 'Answer'].flatMap(actionsOf);
    expect(allowed).toContain('dynamodb:UpdateItem');
    expect(sent.filter(({ action }) => !allowed.includes(action))).toEqual([]);
    const updates = sent.filter(({ action }) => action === 'dynamodb:UpdateItem');
    const attributes = new Set(updates.flatMap(({ input }) => attributesOf(input)));
    expect([...attributes].toSorted()).toEqual(answerAttributes.toSorted());
  });
});
