import { readVersion } from '../versions.ts';
import { createInboxFunctionChecks } from './inbox.ts';
import { createInvoke } from './invoke.ts';
import { createMailerChecks, createReceiverChecks } from './mail-functions.ts';
import { createRequestChecks } from './request-function.ts';
import type { Check } from './run-checks.ts';

/** A version has to pass them before users get it, also at a rollback. */
export async function createVersionChecks(name: string, version: string): Promise<Check[]> {
  const invoke = createInvoke(`${name}:${version}`);
  const { environment } = await readVersion(name, version);
  const { CORS_ORIGIN, TEAM, ORIGIN, INBOX_TO, MAIL_BUCKET, REPLY_DOMAIN = '' } = environment;
  if (TEAM !== undefined) return createInboxFunctionChecks(invoke, ORIGIN);
  if (INBOX_TO === undefined) return createRequestChecks(invoke, CORS_ORIGIN);
  return MAIL_BUCKET === undefined
    ? createMailerChecks(invoke)
    : createReceiverChecks(invoke, REPLY_DOMAIN);
}
