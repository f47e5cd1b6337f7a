import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDeliveryEntity, createQuotaEntity } from '../entities/delivery.ts';
import { createInquiryEntity } from '../entities/inquiry.ts';
import type { MailerConfig } from './config.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { createInquiryReader, type InquiryReader } from './inquiries.ts';
import { createQuotas, type Quotas } from './quotas.ts';

/** The mailer's reads and writes. Its methods reject with ElectroDB's error, whose cause is the SDK's. */
export interface MailerStore {
  readonly inquiries: InquiryReader;
  readonly deliveries: Deliveries;
  readonly quotas: Quotas;
}

export const createMailerStore = (
  client: DynamoDBDocumentClient,
  config: Pick<MailerConfig, 'tableName' | 'mailsPerHour' | 'totalMailsPerHour'>,
): MailerStore => ({
  inquiries: createInquiryReader(createInquiryEntity(config.tableName, client)),
  deliveries: createDeliveries(createDeliveryEntity(config.tableName, client)),
  quotas: createQuotas(createQuotaEntity(config.tableName, client), config),
});
