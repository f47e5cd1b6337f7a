import type { Undelivered } from '../src/entities/deliveries.ts';
import { FIELDS, type StoredInquiry } from '../src/entities/stored-inquiries.ts';

/** An inquiry, and what became of its reply's mail. */
export type ShownInquiry = StoredInquiry & Partial<Undelivered>;

/** In the order of JSON. */
export const SHOWN_FIELDS = [...FIELDS, 'undelivered', 'undelivered_at'] as const;
