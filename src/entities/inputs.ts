/**
 * The inputs of the request path's commands, written out so that the request function does not load ElectroDB.
 * They are what ElectroDB makes of the models in inquiry.ts, idempotency-key.ts and rate.ts, as attribute values that
 * are ready to send; tests/function/inputs.test.ts holds them equal. docs/adr/0060
 */
import type { AttributeValue, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { inquirySchema, type Inquiry } from '../contract.ts';
import { HOUR } from '../limits.ts';
import type { Language } from '../languages.ts';
import { digest, toShard } from './keys.ts';

export type Attributes = Record<string, AttributeValue>;
type Owner = Pick<Inquiry, 'cognito_sub' | 'email'>;

const S = (text: string) => ({ S: text });
const N = (number: number) => ({ N: String(number) });

const toPartition = ({ cognito_sub, email }: Owner) =>
  S(`$inquiries#cognito_sub_${cognito_sub}#email_${email}`);
const toInquirySort = (id: string) => S(`$inquiry_1#id_${id}`);
const toKeySort = (key: string) => S(`$idempotency_1#key_${digest(key)}`);

/** Milliseconds that a rate is kept: longer than its hour, also where clocks differ. */
const RATE_KEPT = 2 * HOUR;

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
  putInquiry: (
    { id, cognito_sub, email, subject, body, created_at }: Inquiry,
    expires_at?: number,
    language?: Language,
    isEmailVerified = false,
  ) => ({
    TableName,
    Item: {
      id: S(id),
      cognito_sub: S(cognito_sub),
      email: S(email),
      subject: S(subject),
      body: S(body),
      created_at: S(created_at),
      ...(language !== undefined && { language: S(language) }),
      ...(isEmailVerified && { email_verified: { BOOL: true } }),
      ...(expires_at !== undefined && { expires_at: N(expires_at) }),
      inbox: S(toShard(id, false)),
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

  /** Counts an hour of `toOwnerHour` up or down; up only as long as fewer than `most` are counted. */
  updateRate: (owner_hour: string, time: number, by: 1 | -1, most?: number) => ({
    TableName,
    Key: { pk: S(`$inquiries#owner_hour_${owner_hour}`), sk: S('$rate_1') },
    UpdateExpression:
      'SET #expires_at = :expires_at_u0, #owner_hour = :owner_hour_u0, #__edb_e__ = :__edb_e___u0, #__edb_v__ = :__edb_v___u0 ADD #inquiries :inquiries_u0',
    ...(most !== undefined && {
      ConditionExpression: 'attribute_not_exists(#inquiries) OR #inquiries < :inquiries0',
    }),
    ExpressionAttributeNames: {
      '#inquiries': 'inquiries',
      '#expires_at': 'expires_at',
      '#owner_hour': 'owner_hour',
      '#__edb_e__': '__edb_e__',
      '#__edb_v__': '__edb_v__',
    },
    ExpressionAttributeValues: {
      ...(most !== undefined && { ':inquiries0': N(most) }),
      ':expires_at_u0': N(Math.floor((time + RATE_KEPT) / 1_000)),
      ':inquiries_u0': N(by),
      ':owner_hour_u0': S(owner_hour),
      ':__edb_e___u0': S('rate'),
      ':__edb_v___u0': S('1'),
    },
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
