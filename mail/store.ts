import { createDeliveries } from '../src/entities/deliveries.ts';
import { createQuotas } from '../src/entities/quotas.ts';
import { createReplyKeys } from '../src/entities/reply-keys.ts';
import { createStoredInquiries, type InquiryKeys } from '../src/entities/stored-inquiries.ts';
import type { Table } from '../src/entities/table.ts';
import type { MailerConfig } from './config.ts';
import { createMailQuotas } from './mail-quotas.ts';
import { createReplyAddresses } from './reply-addresses.ts';

export type MailerStore = ReturnType<typeof createMailerStore>;

export function createMailerStore(table: Table, config: MailerConfig, now?: () => number) {
  const inquiries = createStoredInquiries(table, now);
  const exists = async (keys: InquiryKeys, signal: AbortSignal): Promise<boolean> =>
    (await inquiries.read(keys, signal)) !== undefined;
  const { replyDomain } = config;
  return {
    /** Undefined if the stage takes no answers by mail. */
    addresses:
      replyDomain === undefined
        ? undefined
        : createReplyAddresses(createReplyKeys(table), replyDomain, now),
    inquiries: { ...inquiries, exists },
    deliveries: createDeliveries(table, now),
    quotas: createMailQuotas(createQuotas(table), config, now),
  };
}
