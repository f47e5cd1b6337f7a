/**
 * The inputs of the request path's commands, written out so that the request function does not load ElectroDB.
 * They are what ElectroDB makes of the models in inquiry.ts and idempotency-key.ts, as attribute values that are ready to
 * send; tests/function/inputs.test.ts holds them equal. docs/adr/0060
 */
import { createHash } from 'node:crypto';
import type { AttributeValue, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { inquirySchema } from '../contract.ts';
import type { Inquiry } from '../contract.ts';
import { LAST_ID, toFirstId } from './ids.ts';

export type Attributes = Record<string, AttributeValue>;
type Owner = Pick<Inquiry, 'cognito_sub' | 'email'>;

const S = (text: string) => ({ S: text });
const N = (number: number) => ({ N: String(number) });

/** SHA-256 in base64url, 43 characters. */
export const digest = (...texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');

const toPartition = ({ cognito_sub, email }: Owner) =>
  S(`$inquiries#cognito_sub_${cognito_sub}#email_${email}`);
const toInquirySort = (id: string) => S(`$inquiry_1#id_${id}`);
const toKeySort = (key: string) => S(`$idempotency_1#key_${digest(key)}`);

/** What a list reads: the fields of an inquiry and its expiry, not the reply columns and not the keys. */
const PROJECTION = [...inquirySchema.required, 'expires_at'].join();

const NAMES = { '#pk': 'pk', '#sk1': 'sk' };
/** Of the rows of one owner. Strongly consistent: who lists right after a POST sees the new inquiry. docs/adr/0015 */
const toQuery = (TableName: string, condition: string, owner: Owner, values: Attributes) => ({
  TableName,
  ConsistentRead: true,
  KeyConditionExpression: `#pk = :pk and ${condition}`,
  ExpressionAttributeNames: NAMES,
  ExpressionAttributeValues: { ':pk': toPartition(owner), ...values },
});

export type QueryInput = ReturnType<typeof toQuery> & Partial<QueryCommandInput>;

/** Creates the inputs for one table. `expires_at` and `now` are in seconds since the epoch. */
export const createInputs = (TableName: string) => ({
  putInquiry: ({ id, cognito_sub, email, subject, body, created_at }: Inquiry, expires_at?: number) => ({
    TableName,
    Item: {
      id: S(id),
      cognito_sub: S(cognito_sub),
      email: S(email),
      subject: S(subject),
      body: S(body),
      created_at: S(created_at),
      ...(expires_at !== undefined && { expires_at: N(expires_at) }),
      pk: toPartition({ cognito_sub, email }),
      sk: toInquirySort(id),
      __edb_e__: S('inquiry'),
      __edb_v__: S('1'),
    },
  }),

  /** Writes a key unless there is one that has not expired by `now`. */
  putKey: (inquiry: Inquiry, key: string, expires_at: number, now: number) => ({
    TableName,
    Item: {
      cognito_sub: S(inquiry.cognito_sub),
      email: S(inquiry.email),
      key: S(digest(key)),
      payload: S(digest(inquiry.subject, inquiry.body)),
      inquiry: S(inquiry.id),
      expires_at: N(expires_at),
      pk: toPartition(inquiry),
      sk: toKeySort(key),
      __edb_e__: S('idempotency'),
      __edb_v__: S('1'),
    },
    ConditionExpression: 'attribute_not_exists(#expires_at) OR #expires_at <= :expires_at0',
    ExpressionAttributeNames: { '#expires_at': 'expires_at' },
    ExpressionAttributeValues: { ':expires_at0': N(now) },
  }),

  queryKey: (owner: Owner, key: string) =>
    toQuery(TableName, '#sk1 = :sk1', owner, { ':sk1': toKeySort(key) }),

  /** Ids since a time in milliseconds since the epoch, newest first. */
  queryIds: (owner: Owner, since: number, Limit: number) => ({
    ...toQuery(TableName, '#sk1 BETWEEN :sk1 AND :sk2', owner, {
      ':sk1': toInquirySort(toFirstId(since)),
      ':sk2': toInquirySort(LAST_ID),
    }),
    ScanIndexForward: false,
    Limit,
    ProjectionExpression: 'id',
  }),

  /** Newest first. */
  queryInquiries: (owner: Owner) => ({
    ...toQuery(TableName, 'begins_with(#sk1, :sk1)', owner, { ':sk1': toInquirySort('') }),
    ScanIndexForward: false,
    ProjectionExpression: PROJECTION,
  }),

  /** An exclusive start key. There need be no such row. */
  startAfter: (owner: Owner, id: string) => ({ pk: toPartition(owner), sk: toInquirySort(id) }),
});
