/** ElectroDB's requests, from which `npm run requests` generates the function's. docs/adr/0060 */
import type {
  AttributeValue,
  PutItemCommandInput,
  QueryCommandInput,
  TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createWriteTransaction, type CreateEntityItem } from 'electrodb';
import { inquiryFields, type Inquiry } from '../contract.ts';
import { createIdempotencyKeyEntity } from './idempotency-key.ts';
import { createInquiryEntity } from './inquiry.ts';
import { createRateEntity } from './rate.ts';

export type Attributes = Record<string, AttributeValue>;
type Owner = Pick<Inquiry, 'cognito_sub' | 'email'>;
/** From {@link toShard}. */
export type InquiryRow = CreateEntityItem<ReturnType<typeof createInquiryEntity>> & {
  inbox: string;
};

export interface KeyRow extends CreateEntityItem<ReturnType<typeof createIdempotencyKeyEntity>> {
  /** Seconds since the epoch; rows expired by then are replaced. */
  now: number;
}

export interface Rate {
  owner_hour: string;
  expires_at: number;
  most: number;
  key: string;
}

/** All names have aliases, since DynamoDB reserves some. */
const LISTED = [...(inquiryFields satisfies readonly (keyof InquiryRow)[]), 'expires_at'];
const ALIASES = Object.fromEntries(LISTED.map((name) => [`#${name}`, name]));
/** Only responses of DynamoDB itself have the consumed capacity. docs/adr/0012 */
const CONFIRMED = { ReturnConsumedCapacity: 'TOTAL' } as const;

export type Requests = ReturnType<typeof createRequests>;

export function createRequests(table: string) {
  const entities = {
    inquiries: createInquiryEntity(table),
    keys: createIdempotencyKeyEntity(table),
    rates: createRateEntity(table),
  };
  const { inquiries, keys, rates } = entities;
  return {
    putInquiry: ({ inquiry }: { inquiry: InquiryRow }) =>
      toInput<PutItemCommandInput & { Item: Attributes }>(
        inquiries.put(inquiry).params({ params: CONFIRMED }),
      ),

    /**
     * Stores the inquiry and its key if that is new, and counts it below the limit. A retry has the same token and
     * succeeds. docs/adr/0090
     */
    storeInquiry: ({
      inquiry,
      key,
      rate,
    }: {
      inquiry: InquiryRow;
      key?: KeyRow | undefined;
      rate?: Rate | undefined;
    }) => {
      const transaction = createWriteTransaction(entities, (write) => [
        ...(key
          ? [
              write.keys
                .put(key)
                .where(
                  ({ expires_at }, { notExists, lte }) =>
                    `${notExists(expires_at)} OR ${lte(expires_at, key.now)}`,
                )
                .commit({ response: 'all_old' }),
            ]
          : []),
        ...(rate
          ? [
              write.rates
                .update({ owner_hour: rate.owner_hour })
                .set({ expires_at: rate.expires_at })
                .add({ inquiries: 1, keys: [rate.key] })
                .where(
                  ({ inquiries: counted }, { notExists, lt }) =>
                    `${notExists(counted)} OR ${lt(counted, rate.most)}`,
                )
                .commit(),
            ]
          : []),
        write.inquiries.put(inquiry).commit(),
      ]);
      return toInput<TransactWriteItemsCommandInput>({
        ...transaction.params({ token: inquiry.id }),
        ...CONFIRMED,
      });
    },

    findKey: ({ owner, digest }: { owner: Owner; digest: string }) =>
      toInput<QueryCommandInput>(
        keys.query
          .byOwner({ cognito_sub: owner.cognito_sub, email: owner.email, key: digest })
          .params(),
      ),

    /** Eventually consistent: at the limit, the row never changes again. docs/adr/0091 */
    readRate: ({ owner_hour }: { owner_hour: string }) =>
      toInput<QueryCommandInput>(rates.query.byOwnerHour({ owner_hour }).params()),

    /** Strongly consistent. docs/adr/0015 */
    listInquiries: ({ owner }: { owner: Owner }) => {
      const query = inquiries.query.byOwner(owner).params<QueryCommandInput>({
        order: 'desc',
        consistent: true,
      });
      return toInput<QueryCommandInput>({
        ...query,
        ProjectionExpression: Object.keys(ALIASES).join(),
        ExpressionAttributeNames: { ...query.ExpressionAttributeNames, ...ALIASES },
      });
    },

    /** The row need not exist. */
    toStartKey: ({ owner, id }: { owner: Owner; id: string }): Attributes =>
      toInput<{ Key: Attributes }>(inquiries.get({ ...owner, id }).params()).Key,
  };
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the shape of ElectroDB's parameters
function toInput<Input>(params: object): Input {
  const entries = Object.entries(params).map(([name, value]: [string, unknown]) => {
    if (Array.isArray(value)) return [name, value.map((item: object) => toInput(item))];
    if (typeof value !== 'object' || value === null) return [name, value];
    const isMarshalled = ['Item', 'Key', 'ExpressionAttributeValues'].includes(name);
    return [name, isMarshalled ? marshall(toNativeSets(value)) : toInput(value)];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape of ElectroDB's parameters
  return Object.fromEntries(entries) as Input;
}

/** Without a client, ElectroDB has its own class of sets. */
const toNativeSets = (values: object): object =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, { values?: string[] }]) => [
      name,
      Array.isArray(value.values) ? new Set(value.values) : value,
    ]),
  );
