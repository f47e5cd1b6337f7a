/**
 * In the bundle, in the place of lib-dynamodb, of which ElectroDB takes the commands: the two that this service
 * sends, as envelopes that src/entities/client.ts opens.
 */
class Envelope {
  readonly input: unknown;

  constructor(input: unknown) {
    this.input = input;
  }
}

export class PutCommand extends Envelope {}
export class QueryCommand extends Envelope {}
