/**
 * Replaces the SDK's event streams, which no operation of DynamoDB has. The SDK imports them dynamically, and for one such
 * import esbuild keeps every module that they share with the rest in a function of its own: 7 ms of each cold start.
 * docs/adr/0060
 */
export const EventStreamSerde = undefined;
