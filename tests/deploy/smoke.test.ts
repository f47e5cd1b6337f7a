import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { FORM_OUTPUTS, setUpProject } from './programs.ts';
import { repeat } from '../../deploy/checks/run-checks.ts';
import { main } from '../../deploy/smoke.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { ORIGIN, serveApp } from '../function/test-app.ts';
import { refusal } from '../local/aws.ts';
import { createOwnStore, whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { unless } from '../helpers/needs.ts';
import { paths } from './project.ts';

const dns = vi.hoisted(() => ({ mx: '', txt: new Set<string>() }));
vi.mock('node:dns/promises', () => ({
  resolveMx: async () => [{ exchange: dns.mx, priority: 10 }],
  resolveTxt: async (name: string) => {
    if (!dns.txt.has(name)) throw new Error('queryTxt ENOTFOUND');
    return [['v=DMARC1; ', 'p=none']];
  },
}));

const NAME = 'inquiries-develop';
const { arrange, command, transcribe, state, env } = await setUpProject(() => arrangeStage());
const aws = env.AWS_ENDPOINT_URL;
const service = await serveApp(createInquiries((await createOwnStore()).store));
afterAll(service.close);
const url = service.url.replace('/inquiries', '');
const token = JSON.stringify({ email: 'ana@example.com', sub: crypto.randomUUID() });

const answer = (answers: Record<string, object>): void => {
  for (const [request, body] of Object.entries(answers)) {
    state.answers[request] = () => ({ status: 200, body });
  }
};
const secrets = new Set<string>();
/** Arranges answers to requests that change something, and records the requests. */
const record = (answers: Record<string, object>): void => {
  for (const [request, reply] of Object.entries(answers)) {
    state.answers[request] = ({ body }) => {
      const text = body.replaceAll(/(?<=smoke-test-|aA1!)[\w-]+/g, (secret) => {
        secrets.add(secret);
        return 'x'.repeat(secret.length);
      });
      state.changes.push(`${request} ${text}`);
      return { status: 200, body: reply };
    };
  }
};
const report = (metrics: object) =>
  `${JSON.stringify({ type: 'platform.report', record: { metrics } })}\n`;
const IDENTITY = 'GET /v2/email/identities/example.com';
const MAPPINGS = 'GET /2015-03-31/event-source-mappings';
const mapping = (State: string, LastProcessingResult = 'OK') => ({
  [MAPPINGS]: {
    EventSourceMappings: [
      { UUID: 'u1', State: 'Enabled', LastProcessingResult: 'OK' },
      { UUID: 'u2', State, LastProcessingResult },
    ],
  },
});
function arrangeStage(outputs: object = {}): void {
  writeFileSync(join(paths.WEB, 'dist/index.html'), 'page');
  arrange({
    outputs: {
      api_url: url,
      cors_origin: ORIGIN,
      function: FORM_OUTPUTS.function,
      mailer: { inquiries: { name: `${NAME}-mailer` } },
      mail: { from: 'inquiries@example.com', identity: 'example.com' },
      ...outputs,
    },
  });
  state.log = report({ maxMemoryUsedMB: 61, initDurationMs: 187.4 });
  answer({
    DescribeMetricFilters: { metricFilters: [{ filterName: 'memory', filterPattern: 'p' }] },
    TestMetricFilter: { matches: [{}] },
    [IDENTITY]: { VerifiedForSendingStatus: true },
    'GET /v2/email/account': { PricingAttributes: { CurrentPlan: 'ESSENTIALS' } },
    'GET /issuer/.well-known/openid-configuration': { authorization_endpoint: `${aws}/authorize` },
    ...mapping('Enabled'),
  });
}
async function smoke(args: string, SMOKE_TOKEN = token) {
  // form.test.ts opens the form.
  const variables = { SMOKE_TOKEN, CHROMIUM_PATH: 'none' };
  const { code, output } = await command(main, args, undefined, variables);
  for (const secret of [token, ...secrets]) expect(output).not.toContain(secret);
  const texts = output.replaceAll(aws, 'https://aws').replaceAll(url, 'https://api');
  return { code, output: texts.replaceAll(/ {2,}/g, '  ') };
}

describe('npm run smoke', unless(whyNoDynamoDbLocal), () => {
  it('leaves one inquiry', async () => {
    const list = async () => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/inquiries`, { headers });
      return ((await response.json()) as InquiryListResponse).inquiries;
    };
    const before = await list();
    expect(await smoke('develop')).toMatchObject({ code: 0 });
    const [inquiry, ...older] = await list();
    expect(inquiry?.body).toBe('Left by the smoke test of a deployment.');
    expect(older).toEqual(before);
  });

  const fetchFromStage = globalThis.fetch;
  /**
   * What is replaced in the answers to some requests. A request is METHOD URL STATUS HEADERS, sent and received. An
   * answer is status, headers and, in the next line, body.
   */
  const BROKEN: readonly (readonly [requests: RegExp, pattern: RegExp | string, by: string])[] = [
    [/ 401/, '401', '200'],
    [/^PUT/, '"allow"', '"x"'],
    [/^GET/, /"[^"]*allow-origin"/, '"x"'],
    [/^POST/, '"id"', '"reply":null,"id"'],
    [/limit=20/, '"cache-control"', '"x"'],
    [/limit=20/, /"count".*/, '"count":0,"inquiries":[]}'],
    [/limit=20/, '"created_at":"2', '"created_at":"1'],
    [/limit=20/, /"count":\d+/, '"count":99'],
    [/^HEAD/, '405', '404'],
    [/ 413/, '413', '400'],
    [/^POST/, '"idempotency-replayed"', '"x"'],
    [/^POST.*"idempotency-replayed","true"/, 'Left by', 'LEFT BY'],
    [/limit=100/, /"count":.*?\[(\{.*?\}).*/, '"count":2,"inquiries":[$1,$1]}'],
    [/ 422/, '422', '409'],
    [/^OPTIONS/, ORIGIN, '*'],
    [
      /^OPTIONS.*elsewhere/,
      /.*\n/,
      '[204,[["access-control-allow-origin","https://elsewhere.invalid"]]]\n',
    ],
    [/^OPTIONS/, 'POST', 'PUT'],
  ];
  it('reports a service that breaks the contract', async () => {
    const texts: string[] = [];
    for (const [requests, pattern, by] of BROKEN) {
      vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
        const response = await fetchFromStage(input, init);
        const { status, url: asked } = response;
        const details = JSON.stringify([init?.headers, [...response.headers]]);
        let answered = `${JSON.stringify([status, [...response.headers]])}\n${await response.text()}`;
        if (requests.test(`${init?.method} ${asked} ${status} ${details}`)) {
          answered = answered.replace(pattern, by);
        }
        const [head = '', text] = answered.split('\n', 2);
        const [code, headers] = JSON.parse(head) as [number, [string, string][]];
        return new Response(text || null, { status: code, headers });
      });
      const { code, output } = await smoke('develop');
      const failed = output.match(/^failed.*$/gm) ?? [];
      expect([code, failed.length > 0]).toEqual([1, true]);
      texts.push(`${requests.source}: ${String(pattern)} becomes ${by}`, ...failed, '');
    }
    await expect(texts.join('\n')).toMatchFileSnapshot('golden/broken-contract.txt');
  });

  const withForm = () => ({
    site: { bucket: 'b', distribution_id: 'd', url: `${aws}/form/` },
    form_config: { ...FORM_OUTPUTS.form_config, issuer: `${aws}/issuer` },
    smoke_sign_in: FORM_OUTPUTS.smoke_sign_in,
  });
  const serve = (path: string, status: number, body: string | object): void => {
    state.answers[`GET ${path}`] = () => ({ status, body });
  };
  const MX = 'inbound-smtp.eu-central-1.amazonaws.com';
  const withReplies = (mx: string, ...txt: string[]) => {
    dns.mx = mx;
    dns.txt = new Set(txt);
    return {
      mail_dns_records: [{ name: 'reply.example.com', type: 'MX', value: `10 ${MX}` }],
      reply_from: ['@team.example.com', 'boss@partner.example'],
    };
  };
  const arrangeUser = () => {
    arrangeStage({ smoke_sign_in: FORM_OUTPUTS.smoke_sign_in });
    record({
      AdminCreateUser: {},
      AdminInitiateAuth: { ChallengeParameters: { USER_ID_FOR_SRP: 'name-in-the-pool' } },
      AdminRespondToAuthChallenge: {
        AuthenticationResult: { IdToken: token, AccessToken: 'access' },
      },
      DeleteUser: {},
    });
  };
  const CASES: Record<string, { args?: string; happen?: () => void; isSignedIn?: boolean }> = {
    'a stage with all it may have': {
      args: 'develop --mail',
      happen: () => {
        const records = ['_dmarc.team.example.com', '_dmarc.partner.example'];
        arrangeStage({ ...withForm(), ...withReplies(MX, ...records) });
        record({ 'POST /v2/email/outbound-emails': {} });
        const config = { ...withForm().form_config };
        serve('/form/', 200, 'page');
        serve('/form/config.json', 200, `${JSON.stringify(config, null, 2)}\n`);
        serve('/authorize', 200, '<form>');
      },
    },
    'a stage with all that fails': {
      happen: () => {
        arrangeStage(withForm());
        state.log = report({ maxMemoryUsedMB: 121 });
        answer({ TestMetricFilter: {}, ...mapping('Disabled') });
        serve('/authorize', 400, '<form>');
        serve('/form/', 200, 'another');
      },
    },
    'a function without gc, a mapping that may not read, and an error in place of the form': {
      happen: () => {
        arrangeStage(withForm());
        state.log += '{"message":"no --expose-gc"}\n';
        answer(mapping('Enabled', 'PROBLEM: denied'));
        serve('/authorize', 200, '<p>An error</p>');
      },
    },
    'a stage that waits': {
      happen: () => {
        arrangeStage(withReplies('mx.example.net', '_dmarc.example.com'));
        state.log = '';
        const DkimAttributes = { Tokens: ['t1'], SigningHostedZone: 'dkim.example' };
        answer({
          ...mapping('Creating'),
          [IDENTITY]: { VerificationStatus: 'PENDING', DkimAttributes },
        });
      },
    },
    'a new user': { isSignedIn: false, happen: arrangeUser },
    'a new user whom Cognito refuses': {
      isSignedIn: false,
      happen: () => {
        arrangeUser();
        state.answers['AdminInitiateAuth'] = ({ body }) =>
          refusal(400, 'InvalidParameterException', body);
      },
    },
    'a mailer that reads nothing': { happen: () => answer({ [MAPPINGS]: {} }) },
    'another service': { args: `--url ${url}/` },
    'another service without a token': { args: `--url ${url}/`, isSignedIn: false },
    'an address of another kind': { args: '--url ftp://a' },
  };
  it.each(Object.entries(CASES))(
    '%s',
    async (_, { args = 'develop', happen, isSignedIn = true }) => {
      happen?.();
      expect(transcribe(await smoke(args, isSignedIn ? token : ''))).toMatchSnapshot();
    },
  );

  it('makes each user with another address and other passwords', async () => {
    secrets.clear();
    for (const count of [3, 6]) {
      arrangeUser();
      await smoke('develop', '');
      expect(secrets.size).toBe(count);
    }
  });
});

it('a check is repeated until it passes, time is up, or the command is interrupted', async () => {
  const check = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('missing'));
  check.mockResolvedValueOnce('found');
  const { signal } = new AbortController();
  expect(await repeat(check, 60, signal)).toBe('found');
  check.mockRejectedValue(new Error('missing'));
  await expect(repeat(check, 0, signal)).rejects.toThrow('missing');
  await expect(repeat(check, 60, AbortSignal.abort(130))).rejects.toBe(130);
});
