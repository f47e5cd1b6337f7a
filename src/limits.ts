/** No imports: the form's bundle has this file. */

/** Bytes of a DynamoDB item: attribute names and values in UTF-8. */
export const ITEM_LIMIT = 400 * 1024;

/** Bytes of a DynamoDB partition key. */
export const PARTITION_KEY_LIMIT = 2048;

/** Bytes of Lambda's request and response, JSON with the body as an escaped string. */
export const LAMBDA_PAYLOAD_LIMIT = 6_291_556;

/** Milliseconds. */
export const HOUR = 3_600_000;

/** UUID version 7 in canonical form (RFC 9562). */
export const INQUIRY_ID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** What users see of an id: its first two groups, which are its time. */
export const toReference = (id: string): string => id.slice(0, 13);

/** The domain cannot receive mail (RFC 2606), so nobody else has it. */
export const isTestAddress = (email: string): boolean =>
  email.toLowerCase().endsWith('@inquiries.invalid');

/** Maxima of settings that are whole numbers from 1. infra/terraform has the same. */
export const MAXIMA = {
  RETENTION_DAYS: 36_500,
  INQUIRIES_PER_HOUR: 1_000,
  MAILS_PER_HOUR: 1_000,
  TOTAL_MAILS_PER_HOUR: 1_000,
  ANSWER_WITHIN: 365,
} as const;

export const namesOf = <Name extends string>(literal: Record<Name, unknown>) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a literal has no others
  Object.keys(literal) as Name[];

/** Digits without leading zeros. */
export const isSettingOf = (name: keyof typeof MAXIMA, text: string): boolean =>
  /^[1-9]\d*$/.test(text) && Number(text) <= MAXIMA[name];
