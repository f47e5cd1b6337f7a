/** DynamoDB does not use them. docs/adr/0060 */
export const EventStreamSerde = undefined;
