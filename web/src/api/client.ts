/** A thin typed client of the service. The only file here that knows a path of the API. */
import type { Inquiry, InquiryListResponse, ListQuery } from '../../../src/contract.ts';

export type { Inquiry, ListQuery };

export interface ClientOptions {
  readonly baseUrl: string;
  readonly token: () => Promise<string>;
}

type Refused = { readonly status: number; readonly ok: false; readonly message: string };

export type ListInquiriesResult =
  | {
      readonly ok: true;
      readonly status: 200;
      readonly body: InquiryListResponse;
      readonly next: ListQuery | undefined;
    }
  | Refused;
export type CreateInquiryResult =
  | { readonly ok: true; readonly status: 201; readonly body: { inquiry: Inquiry } }
  | Refused;

export function createClient({ baseUrl, token }: ClientOptions) {
  const url = `${baseUrl.replace(/\/$/, '')}/inquiries`;
  const call = async (target: string, init: RequestInit): Promise<Response> =>
    fetch(target, { ...init, headers: { ...init.headers, authorization: `Bearer ${await token()}` } });
  const refuse = async (response: Response): Promise<Refused> => {
    const body: unknown = await response.json().catch(() => undefined);
    const { message } = (body ?? {}) as Partial<Record<string, unknown>>;
    return { ok: false, status: response.status, message: typeof message === 'string' ? message : '' };
  };
  return {
    async listInquiries(query: ListQuery, signal: AbortSignal): Promise<ListInquiriesResult> {
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
      const response = await call(`${url}?${search.toString()}`, { signal });
      if (!response.ok) return refuse(response);
      const body = (await response.json()) as InquiryListResponse;
      const before = /<\?[^>]*\bbefore=([\w-]+)[^>]*>;\s*rel="next"/.exec(
        response.headers.get('link') ?? '',
      )?.[1];
      return { ok: true, status: 200, body, next: before === undefined ? undefined : { ...query, before } };
    },
    async createInquiry(
      inquiry: { subject: string; body: string },
      signal: AbortSignal,
    ): Promise<CreateInquiryResult> {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(inquiry),
        signal,
      };
      const response = await call(url, init);
      if (!response.ok) return refuse(response);
      return { ok: true, status: 201, body: (await response.json()) as { inquiry: Inquiry } };
    },
  };
}
