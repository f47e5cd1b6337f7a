/** What the module has in common with other parts of the project; `npm run check:infra` tests its resources. */
import { describe, expect, it, vi } from 'vitest';
import { createDeliveryEntity, createQuotaEntity } from '../../src/entities/delivery.ts';
import { createRateEntity } from '../../src/entities/rate.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { unparsableJson } from '../../src/errors.ts';
import { logRequest } from '../../src/log.ts';
import { logMail } from '../../src/mailer/log.ts';
import { INQUIRY } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';

const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

describe('the module', () => {
  it('alarms on the metrics, levels and outcomes that the functions write', () => {
    const alarms = readText('infra/terraform/observability.tf');
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const failed = vi.spyOn(console, 'error').mockReturnValue();
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const common = { requestId: '1', functionName: 'f' };
    const request = { ...common, method: 'POST', milliseconds: 1, attempts: 0 };
    logRequest({ ...request, status: 500, error: unparsableJson(undefined) });
    // The metric filter not-json matches this line, so that the alarm on 5xx can subtract it.
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 500 }));
    expect(alarms).toContain(String.raw`{ $.level = \"WARN\" && $.message.status = 500 }`);
    for (const outcome of ['refused', 'no-address', 'undelivered'] as const) {
      logMail({ ...common, inquiry: undefined, mail: 'reply', outcome });
      expect(failed).toHaveBeenLastCalledWith(expect.objectContaining({ outcome }));
      expect(alarms).toContain(String.raw`$.message.outcome = \"${outcome}\"`);
    }
    for (const [line] of write.mock.calls) {
      const { _aws: aws, ...values } = JSON.parse(String(line));
      const [{ Namespace, Dimensions }] = aws.CloudWatchMetrics;
      expect(alarms).toContain(`function_namespace = "${Namespace}"`);
      expect(Dimensions).toEqual([['FunctionName']]);
      // These two are those of the gateway, too.
      const own = Object.keys(values).filter((name) => !/^(Requests|Latency)$/.test(name));
      expect(own.filter((name) => !alarms.includes(name))).toEqual([]);
    }
  });

  it('limits the writes of the mailer to its records, updates of the function to rates, and answers of operators to inquiries', () => {
    type Request = Readonly<Record<'Key', Readonly<Record<'pk', string>>>>;
    const rows = [
      createInquiryEntity('t').get(INQUIRY).params<Request>(),
      createDeliveryEntity('t').get({ inquiry: '1', mail: 'reply' }).params<Request>(),
      createQuotaEntity('t').get({ quota: '1' }).params<Request>(),
      createRateEntity('t').get({ owner_hour: 's' }).params<Request>(),
    ];
    /** Which rows a policy may write. */
    const writable = (file: string) => {
      const lists = matches(readText(file), /"dynamodb:LeadingKeys" *= (\[.*?\]|".*?")/g).join();
      const prefixes = matches(lists, /"([^"]*)\*"/g).filter((prefix) => prefix !== '*#');
      return rows.map(({ Key }) => prefixes.some((prefix) => Key.pk.startsWith(prefix)));
    };
    expect(writable('infra/terraform/bootstrap/policies.tf')).toEqual([true, false, false, false]);
    expect(writable('infra/terraform/mailer/main.tf')).toEqual([false, true, true, false]);
    expect(writable('infra/terraform/function.tf')).toEqual([false, false, false, true]);
  });
});

describe('the form', () => {
  it('has the same policy in its page, in the headers of CloudFront and in web/README.md', () => {
    const source = readText('infra/terraform/site/main.tf');
    const readme = readText('web/README.md');
    const [directives = ''] = matches(
      source,
      /^ +content_security_policy = join\("; ", \[\n(.*?)\n +\]\)$/gms,
    );
    // What differs between stages, and the hashes.
    const normalise = (policy: string) =>
      policy
        .replaceAll(/'(FIRST_PAINT_\w+|<hash of [^>]+>)'|\$\{local\.first_paint\.\w+\}/g, 'HASH')
        .replace(/connect-src [^;]*/, 'connect-src …');
    const header = normalise(matches(directives, /"((?:\$\{.*?\}|[^"$])+)"/g).join('; '));
    expect(header).toContain("script-src 'self' HASH; style-src 'self' HASH;");
    expect(normalise(matches(readme, /^Content-Security-Policy: (.*)$/gm).join())).toBe(header);
    const page = matches(
      readText('web/index.html'),
      /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/g,
    );
    expect(normalise(page.join())).toBe(header.replace("frame-ancestors 'none'; ", ''));
  });
});
