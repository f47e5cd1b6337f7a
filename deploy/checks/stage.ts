/** The smoke test. Each check says what to do if it fails. */
import type { Form } from '../form.ts';
import type { StageOutputs } from '../stage.ts';
import { createApiChecks } from './api.ts';
import { createInboxChecks } from './inbox.ts';
import { createMailChecks } from './mail.ts';
import { runChecks, type Check, type Context } from './run-checks.ts';
import { createRunningChecks } from './running-function.ts';
import { createFormChecks } from './served-form.ts';
import { signInOnce } from './sign-in.ts';

/**
 * @param form - What should be served; undefined: any that runs.
 * @param options - `wait`: seconds that a new API, and CloudFront, may take; `mail`: whether a mail is sent, which
 *   bounces.
 * @returns The titles of the checks that failed.
 */
export function testStage(
  outputs: StageOutputs,
  form: Form | undefined,
  context: Context,
  { wait = 60, mail = false } = {},
): Promise<string[]> {
  const { api_url: url, cors_origin: origin, smoke_sign_in: signIn } = outputs;
  const { env } = context.io;
  const target = { url, origin, token: env['SMOKE_TOKEN'] ?? '' };
  const checks: Check[] = [];
  if (signIn && target.token === '') {
    const signInOfUser = async () => void (target.token = await signInOnce(signIn));
    checks.push(['a new user of the pool signs in', signInOfUser]);
  }
  checks.push(
    ...createApiChecks(target, wait),
    ...createRunningChecks(outputs.function.name),
    ...createMailChecks(outputs, mail),
    ...(outputs.inbox ? createInboxChecks(outputs.inbox.url) : []),
    ...createFormChecks(outputs, form, wait, env),
  );
  return runChecks(checks, context);
}
