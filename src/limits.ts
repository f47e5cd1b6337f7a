/** Without imports: it is in the form's bundle. */

/** Bytes of a DynamoDB item: names and values in UTF-8. */
export const ITEM_LIMIT = 400 * 1024;

/** Bytes of a DynamoDB partition key. */
export const PARTITION_KEY_LIMIT = 2048;

/** Bytes of Lambda's request or response, JSON with the body as an escaped string. */
export const LAMBDA_PAYLOAD_LIMIT = 6_291_556;

/** Milliseconds. */
export const HOUR = 3_600_000;

/** UUID version 7, canonical (RFC 9562). */
export const INQUIRY_ID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** The part of an id that users see: its time. */
export const toReference = (id: string): string => id.slice(0, 13);

/** A domain that nobody has (RFC 2606). */
export const isTestAddress = (email: string): boolean =>
  email.toLowerCase().endsWith('@inquiries.invalid');

/** Maxima of whole-number settings, also in infra/terraform. */
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
