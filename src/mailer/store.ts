import { createDeliveries } from '../entities/deliveries.ts';
import { createQuotas } from '../entities/quotas.ts';
import { createStoredInquiries, type InquiryKeys } from '../entities/stored-inquiries.ts';
import type { Table } from '../entities/table.ts';
import type { MailerConfig } from './config.ts';
import { createMailQuotas } from './mail-quotas.ts';

export type MailerStore = ReturnType<typeof createMailerStore>;

export function createMailerStore(table: Table, config: MailerConfig, now?: () => number) {
  const inquiries = createStoredInquiries(table, now);
  const exists = async (keys: InquiryKeys, signal: AbortSignal): Promise<boolean> =>
    (await inquiries.read(keys, signal)) !== undefined;
  return {
    inquiries: { ...inquiries, exists },
    deliveries: createDeliveries(table),
    quotas: createMailQuotas(createQuotas(table), config),
  };
}
