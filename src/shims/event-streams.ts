/**
 * Replaces the SDK's event streams, which DynamoDB does not use: for their dynamic import, esbuild would wrap every
 * shared module, 7 ms of a cold start. docs/adr/0060
 */
export const EventStreamSerde = undefined;
