/**
 * Replaces node:zlib, whose `crc32` the SDK uses where it is there; it has its own. DynamoDB's responses are not compressed.
 * The module takes 2 ms of each cold start. docs/adr/0060
 */
export const crc32 = undefined;
