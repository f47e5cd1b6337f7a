/** Bytes of a DynamoDB item: attribute names and values in UTF-8. */
export const ITEM_LIMIT = 400 * 1024;

/** Bytes of a DynamoDB partition key. */
export const PARTITION_KEY_LIMIT = 2048;

/** Bytes of Lambda's request and response, each as JSON, in which the body is an escaped string. */
export const LAMBDA_PAYLOAD_LIMIT = 6_291_556;
