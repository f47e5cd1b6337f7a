/** Middy with Powertools' logger and metrics, and zod. */
import { createInquiry } from './shared/inquiries.ts';
import { createMiddyHandler } from './shared/middy-handler.ts';

export const handler = createMiddyHandler(createInquiry);
