import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import { createGatewayEvent } from '../../src/gateway-event.ts';
import type { GatewayEvent } from '../../src/http.ts';
import type { Inquiries, StoreCall } from '../../src/inquiries.ts';

export const SUB = '1f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b';
export const EMAIL = 'ana@example.com';
export const INQUIRY: Inquiry = {
  id: '01a1f794-6f77-70a2-a975-366ad3f1860a',
  cognito_sub: SUB,
  email: EMAIL,
  subject: 's',
  body: 'b',
  created_at: '2026-11-20T06:11:02.647Z',
};

export const makeCall = (signal = new AbortController().signal): StoreCall => ({
  signal,
  attempts: 0,
});

export async function list(
  inquiries: Inquiries,
  ...[owner, query, call = makeCall()]: Partial<Parameters<Inquiries['list']>>
) {
  const { json, next } = await inquiries.list(owner ?? { sub: SUB, email: EMAIL }, query, call);
  return { list: JSON.parse(json) as InquiryListResponse, next };
}

export function makeEvent({
  method = 'GET',
  claims = { sub: SUB, email: EMAIL },
  ...body
}: Pick<GatewayEvent, 'body' | 'isBase64Encoded'> & {
  method?: unknown;
  claims?: unknown;
}): GatewayEvent {
  return createGatewayEvent({ method, claims, ...body });
}

export const makePost = (value: unknown, claims?: unknown): GatewayEvent =>
  makeEvent({
    method: 'POST',
    body: JSON.stringify(value),
    claims,
  });

export const makeKeyedPost = (
  key: string | undefined,
  value: unknown,
  claims?: unknown,
): GatewayEvent => ({
  ...makePost(value, claims),
  headers: { 'idempotency-key': key },
});
