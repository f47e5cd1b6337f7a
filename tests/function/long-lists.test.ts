import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import type { GatewayResponse } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makePost, SUB } from '../helpers/events.ts';

describeOnDynamoDbLocal('following Link', (endpoint) => {
  let app: ReturnType<typeof createApp>;
  beforeAll(async () => {
    const { store } = await createOwnStore(endpoint);
    app = createApp({ inquiries: createInquiries(store), corsOrigin: 'https://o.example' });
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

  it('reaches all of 1,000 inquiries of 8 KB, with and without a limit', async () => {
    const email = 'many@example.com';
    const made: string[] = [];
    for (let batch = 0; batch < 40; batch++) {
      const posts = Array.from({ length: 25 }, () => post(email, 'x'.repeat(8_000)));
      made.push(...(await Promise.all(posts)));
    }
    const newestFirst = made.toSorted().toReversed();
    const whole = await traverse(email);
    expect(whole.ids).toEqual(newestFirst);
    // They are 8.2 MB of response.
    expect(whole.sizes).toHaveLength(2);
    const limited = await traverse(email, { limit: '200' });
    expect(limited.ids).toEqual(newestFirst);
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
