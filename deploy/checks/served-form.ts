import { assert } from '../../lib/contract/contract-checks.ts';
import { listDifferences, runForm, type Form } from '../form.ts';
import type { StageOutputs } from '../stage.ts';
import type { Check } from './run-checks.ts';

async function checkSignInPage(
  { issuer, clientId }: Record<'issuer' | 'clientId', string>,
  redirect_uri: string,
): Promise<void> {
  const signal = AbortSignal.timeout(20_000);
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`, { signal });
  const { authorization_endpoint } = (await discovery.json()) as { authorization_endpoint: string };
  const parameters = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri,
  });
  const page = await fetch(`${authorization_endpoint}?${String(parameters)}`, { signal });
  assert(
    page.ok && (await page.text()).includes('<form'),
    `${authorization_endpoint} answered ${page.status} without a form; compare redirect_uri with the app client's: ${redirect_uri}`,
  );
}

async function checkForm(url: string, form: Form): Promise<string> {
  const differences = await listDifferences(url, form);
  assert(differences.length === 0, `${differences.join('; ')}: npm run deploy serves it again`);
  return `${form.size} files`;
}

/**
 * @param form - What should be served; undefined: any that runs.
 * @param wait - Seconds that CloudFront may take.
 */
export function createFormChecks(
  { site, form_config: config, smoke_sign_in: signIn }: StageOutputs,
  form: Form | undefined,
  wait: number,
  env: NodeJS.ProcessEnv,
): Check[] {
  if (!site) return [];
  const { url } = site;
  const checks: Check[] = [];
  // Only a pool of the stage's own has a user for the smoke test.
  if (config && signIn) {
    checks.push(['the sign-in page has a form', () => checkSignInPage(config, url)]);
  }
  if (form) checks.push(['the form is served as it was built', () => checkForm(url, form), wait]);
  checks.push(['the form runs', () => runForm(url, undefined, env)]);
  return checks;
}
