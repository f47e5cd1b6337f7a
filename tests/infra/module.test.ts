/** What the module has in common with other parts of the project; `npm run check:infra` tests its resources. */
import { globSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { createDeliveryEntity, createQuotaEntity } from '../../src/entities/delivery.ts';
import { createRateEntity } from '../../src/entities/rate.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { unparsableJson } from '../../src/errors.ts';
import { logRequest } from '../../src/log.ts';
import { logMail } from '../../src/mailer/log.ts';
import { INQUIRY } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';

const source = globSync('infra/terraform/{,site/}*.tf', { cwd: ROOT })
  .toSorted()
  .map(readText)
  .join('\n');
const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

describe('the module', () => {
  it('alarms on the metric and the log level that the function writes', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const write = vi.fn<(line: string) => void>();
    const request = {
      requestId: '1',
      functionName: 'f',
      method: 'POST',
      milliseconds: 1,
      attempts: 0,
    };
    logRequest({ ...request, status: 500, error: unparsableJson(undefined) }, write);
    const { _aws, ...values } = JSON.parse(String(write.mock.lastCall));
    const [{ Namespace, Dimensions, Metrics }] = _aws.CloudWatchMetrics;
    expect(values).toEqual({ FunctionName: 'f', Requests: 1, Faults: 0, Latency: 1 });
    expect(Dimensions).toEqual([['FunctionName']]);
    expect(Metrics).toContainEqual({ Name: 'Faults', Unit: 'Count' });
    expect(source).toContain(`function_namespace = "${Namespace}"`);
    expect(source).toContain('namespace = local.function_namespace, name = "Faults"');
    // The metric filter not-json matches this line, so that the alarm on 5xx can subtract it.
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 500 }));
    expect(source).toContain('{ $.level = \\"WARN\\" && $.message.status = 500 }');
  });

  it('alarms on the metric and the outcomes that the mailer writes', () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    const write = vi.fn<(line: string) => void>();
    const mail = { requestId: '1', functionName: 'f', inquiry: undefined, mail: 'reply' } as const;
    for (const outcome of ['refused', 'no-address'] as const) {
      logMail({ ...mail, outcome }, write);
      expect(log).toHaveBeenLastCalledWith(expect.objectContaining({ requestId: '1', outcome }));
      expect(source).toContain(`$.message.outcome = \\"${outcome}\\"`);
    }
    const { _aws, ...values } = JSON.parse(String(write.mock.lastCall));
    expect(values).toMatchObject({ FunctionName: 'f', MailFailures: 1 });
    expect(source).toContain(`function_namespace = "${_aws.CloudWatchMetrics[0].Namespace}"`);
    expect(source).toContain('namespace = local.function_namespace, name = "MailFailures"');
    for (const name of Object.keys(values).filter((key) => key !== 'FunctionName')) {
      expect(source).toContain(`"${name}"`);
    }
  });

  it('limits the writes of the mailer to its records, updates of the function to rates, and answers of operators to inquiries', () => {
    const keysOf = (file: string) =>
      Array.from(
        new Set(
          matches(readText(file), /"dynamodb:LeadingKeys" = (\[.*?\]|".*?")/g).flatMap((list) =>
            matches(list, /"([^"]*)\*"/g),
          ),
        ),
      );
    const [rates, mailer, operators] = [
      'function.tf',
      'mailer/main.tf',
      'bootstrap/policies.tf',
    ].map((file) => keysOf(`infra/terraform/${file}`));
    const inquiry = createInquiryEntity('t').get(INQUIRY).params<{ Key: { pk: string } }>();
    const delivery = createDeliveryEntity('t')
      .get({ inquiry: '1', mail: 'reply' })
      .params<{ Key: { pk: string } }>();
    const quota = createQuotaEntity('t').get({ quota: '1' }).params<{ Key: { pk: string } }>();
    const prefixesOf = (keys: string[] = [], pk: string) =>
      keys.filter((key) => pk.startsWith(key)).length;
    expect([inquiry, delivery, quota].map(({ Key }) => prefixesOf(mailer, Key.pk))).toEqual([
      0, 1, 1,
    ]);
    expect([inquiry, delivery, quota].map(({ Key }) => prefixesOf(operators, Key.pk))).toEqual([
      1, 0, 0,
    ]);
    const rate = createRateEntity('t').get({ owner_hour: 's' }).params<{ Key: { pk: string } }>()
      .Key.pk;
    expect([inquiry, delivery, quota].map(({ Key }) => prefixesOf(rates, Key.pk))).toEqual([
      0, 0, 0,
    ]);
    expect([rates, mailer, operators].map((keys) => prefixesOf(keys, rate))).toEqual([1, 0, 0]);
    // Of operators: answers, and records of erasures, whose keys are the whole record (inbox/erasures.ts).
    expect(operators).toEqual(['$inquiries#cognito_sub_', '*#']);
    expect([rates, mailer]).toMatchObject([{ length: 1 }, { length: 2 }]);
  });
});

describe('the form', () => {
  it('has the same policy in its page, in the headers of CloudFront and in web/README.md', () => {
    const [directives = ''] = matches(
      source,
      /^ +content_security_policy = join\("; ", \[\n(.*?)\n +\]\)$/gms,
    );
    const readme = readText('web/README.md');
    // What differs between stages, and the hashes.
    const normalise = (policy: string) =>
      policy
        .replaceAll(/'(FIRST_PAINT_\w+|<hash of [^>]+>)'|\$\{local\.first_paint\.\w+\}/g, 'HASH')
        .replace(/connect-src [^;]*/, 'connect-src …');
    const header = normalise(matches(directives, /"((?:\$\{.*?\}|[^"$])+)"/g).join('; '));
    expect(normalise(matches(readme, /^Content-Security-Policy: (.*)$/gm).join())).toBe(header);
    const page = matches(
      readText('web/index.html'),
      /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/g,
    );
    expect(normalise(page.join())).toBe(header.replace("frame-ancestors 'none'; ", ''));
    expect(header).toContain("script-src 'self' HASH; style-src 'self' HASH;");
    for (const line of [
      'Referrer-Policy: no-referrer',
      'Strict-Transport-Security: max-age=31536000',
      'Access-Control-Allow-Origin: *',
    ]) {
      expect(readme).toContain(`\n${line}\n`);
    }
  });
});
