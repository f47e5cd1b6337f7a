import type { Undelivered } from '../src/entities/deliveries.ts';
import { FIELDS, type StoredInquiry } from '../src/entities/stored-inquiries.ts';

/** An inquiry, what became of its reply's mail, and the ids of its follow-ups. */
export type ShownInquiry = StoredInquiry & Partial<Undelivered> & { follow_ups?: string[] };

/** As they are ordered in JSON. */
export const SHOWN_FIELDS = [...FIELDS, 'undelivered', 'undelivered_at'] as const;
