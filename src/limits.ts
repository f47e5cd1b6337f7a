/** This file has no imports, because it is in the form's bundle. */

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

/** The part of an id that users see, which is its time. */
export const toReference = (id: string): string => id.slice(0, 13);

/** Smoke tests use a domain that nobody can own (RFC 2606). */
export const isTestAddress = (email: string): boolean =>
  email.toLowerCase().endsWith('@inquiries.invalid');

export const namesOf = <Name extends string>(literal: Record<Name, unknown>) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a literal has no other names
  Object.keys(literal) as Name[];
