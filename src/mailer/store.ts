import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDeliveryEntity, createQuotaEntity } from '../entities/delivery.ts';
import { createInquiryEntity } from '../entities/inquiry.ts';
import type { MailerConfig } from './config.ts';
import { createDeliveries } from './deliveries.ts';
import { createInquiryReader } from './inquiries.ts';
import { createQuotas } from './quotas.ts';

export type MailerStore = ReturnType<typeof createMailerStore>;

/** Creates the mailer's reads and writes. They reject with ElectroDB's error, whose cause is the SDK's. */
export const createMailerStore = (client: DynamoDBDocumentClient, config: MailerConfig) => ({
  inquiries: createInquiryReader(createInquiryEntity(config.tableName, client)),
  deliveries: createDeliveries(createDeliveryEntity(config.tableName, client)),
  quotas: createQuotas(createQuotaEntity(config.tableName, client), config),
});
