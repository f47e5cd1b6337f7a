import { createDeliveries } from '../entities/deliveries.ts';
import { createQuotas } from '../entities/quotas.ts';
import { createStoredInquiries } from '../entities/stored-inquiries.ts';
import type { Table } from '../entities/table.ts';
import type { MailerConfig } from './config.ts';
import { createMailQuotas } from './mail-quotas.ts';

export type MailerStore = ReturnType<typeof createMailerStore>;

/** Creates the mailer's reads and writes. */
export const createMailerStore = (table: Table, config: MailerConfig, now?: () => number) => ({
  inquiries: createStoredInquiries(table, now),
  deliveries: createDeliveries(table),
  quotas: createMailQuotas(createQuotas(table), config),
});
