import {
  DeleteSuppressedDestinationCommand,
  GetSuppressedDestinationCommand,
  SESv2Client,
} from '@aws-sdk/client-sesv2';
import { NETWORK } from '../lib/aws/aws.ts';
import { ignore } from './erasures.ts';

/** SES's list of addresses from which a mail came back. */
export interface Suppressed {
  addresses: string[];
  remove: () => Promise<void>;
}

export async function findSuppressed(candidates: string[]): Promise<Suppressed> {
  const client = new SESv2Client(NETWORK);
  const addresses: string[] = [];
  for (const EmailAddress of candidates) {
    const command = new GetSuppressedDestinationCommand({ EmailAddress });
    const found = await client.send(command).catch(ignore('NotFoundException'));
    if (found !== undefined) addresses.push(EmailAddress);
  }
  return {
    addresses,
    async remove() {
      for (const EmailAddress of addresses) {
        const command = new DeleteSuppressedDestinationCommand({ EmailAddress });
        await client.send(command).catch(ignore('NotFoundException'));
      }
    },
  };
}
