/** DynamoDB's client does not use event streams. docs/adr/0060 */
export const EventStreamSerde = undefined;
