import type { Undelivered } from '../src/entities/deliveries.ts';
import { FIELDS, type StoredInquiry } from '../src/entities/stored-inquiries.ts';

/** An inquiry, and what became of the mail with its reply. */
export type ShownInquiry = StoredInquiry & Partial<Undelivered>;

/** Its fields, in the order in which JSON has them. */
export const SHOWN_FIELDS = [...FIELDS, 'undelivered', 'undelivered_at'] as const;
