import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import type { GatewayResponse } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makePost, SUB } from '../helpers/events.ts';

describeOnDynamoDbLocal('following Link', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  let app: ReturnType<typeof createApp>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
    app = createApp({ inquiries: createInquiries(own.store), corsOrigin: 'https://o.example' });
  });

  const post = async (email: string, body: string): Promise<string> => {
    const response = await app(makePost({ subject: '', body }, { sub: SUB, email }));
    expect(response.statusCode).toBe(201);
    return (JSON.parse(response.body) as { inquiry: Inquiry }).inquiry.id;
  };

  /** Follows Link to the end; `between` runs after each page. */
  const traverse = async (
    email: string,
    parameters?: object,
    between?: (page: number) => Promise<unknown>,
  ) => {
    const ids: string[] = [];
    const sizes: number[] = [];
    let queryStringParameters: object | undefined = parameters ?? {};
    while (queryStringParameters) {
      const event = { ...makeEvent({ claims: { sub: SUB, email } }), queryStringParameters };
      const response: GatewayResponse = await app(event);
      expect(response.statusCode).toBe(200);
      sizes.push(Buffer.byteLength(JSON.stringify(response)));
      const { count, inquiries } = JSON.parse(response.body) as InquiryListResponse;
      expect(count).toBe(inquiries.length);
      ids.push(...inquiries.map(({ id }) => id));
      const link = /^<\?(.*)>; rel="next"$/.exec(response.headers['Link'] ?? '')?.[1];
      queryStringParameters = link === undefined ? undefined : Object.fromEntries(new URLSearchParams(link));
      await between?.(sizes.length);
    }
    expect(Math.max(...sizes)).toBeLessThan(LAMBDA_PAYLOAD_LIMIT);
    return { ids, sizes };
  };

  it('reaches all of 2,000 inquiries of 4 KB, with and without a limit', async () => {
    const email = 'many@example.com';
    const made: string[] = [];
    const start = Date.UTC(2026, 0, 1);
    for (let batch = 0; batch < 80; batch++) {
      const items = Array.from({ length: 25 }, (_, index) => {
        const time = start + batch * 25 + index;
        const id = time
          .toString(16)
          .padStart(12, '0')
          .replace(/(.{8})(.{4})/, '$1-$2-7000-8000-000000000000');
        const created_at = new Date(time).toISOString();
        made.push(id);
        return own.entity
          .put({ id, cognito_sub: SUB, email, subject: '', body: 'x'.repeat(4_000), created_at })
          .params<{ Item: Record<string, unknown> }>();
      });
      const RequestItems = { [own.table]: items.map(({ Item }) => ({ PutRequest: { Item } })) };
      const { UnprocessedItems = {} } = await own.client.send(new BatchWriteCommand({ RequestItems }));
      expect(Object.keys(UnprocessedItems)).toEqual([]);
    }
    const whole = await traverse(email);
    expect(whole.ids).toEqual(made.toReversed());
    // They are 8.5 MB of response.
    expect(whole.sizes).toHaveLength(2);
    const limited = await traverse(email, { limit: '400' });
    expect(limited.ids).toEqual(made.toReversed());
    expect(limited.sizes).toHaveLength(5);
  });

  it('loses none and repeats none while others are being added', async () => {
    const email = 'growing@example.com';
    const made: string[] = [];
    for (let index = 0; index < 20; index++) made.push(await post(email, ''));
    const added: string[] = [];
    const { ids } = await traverse(email, { limit: '3' }, async () => added.push(await post(email, 'later')));
    expect(ids).toEqual(made.toReversed());
    expect((await traverse(email)).ids).toEqual([...made, ...added].toReversed());
  });
});
