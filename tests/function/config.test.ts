import { expect, it } from 'vitest';
import { parseConfig, type Environment } from '../../src/config.ts';
import { parseMailerConfig } from '../../mail/config.ts';
import { parseReceiverConfig } from '../../mail/received/config.ts';
import { readText } from '../helpers/repository.ts';

const REQUIRED = { TABLE_NAME: 't', CORS_ORIGIN: 'https://o' };

it('reads the settings', () => {
  const env = { RETENTION_DAYS: '36500', INQUIRIES_PER_HOUR: '1000' };
  const numbers = { retentionDays: 36_500, inquiriesPerHour: 1_000 };
  const texts = { HASH_KEY: 'k', STORED_FOR_MAIL: 'language,email_verified' };
  const stored = { hashKey: 'k', storedForMail: ['language', 'email_verified'] };
  const read = { tableName: 't', corsOrigin: 'https://o', ...stored };
  expect(parseConfig({ ...REQUIRED, ...env, ...texts })).toEqual({ ...read, ...numbers });
  expect(parseConfig({ ...REQUIRED, RETENTION_DAYS: '' }).retentionDays).toBeUndefined();
});

it.each([
  ['TABLE_NAME', ''],
  ['CORS_ORIGIN', ''],
  ['INQUIRIES_PER_HOUR', '1001'],
  ...['36501', '0', '01', '-1', '1.5', '0x10', '7\n', '٧'].map((text) => ['RETENTION_DAYS', text]),
])('refuses %s=%j by name', (name = '', text = '') => {
  const message = `Missing or malformed environment variable: ${name}`;
  expect(() => parseConfig({ ...REQUIRED, [name]: text })).toThrow(new Error(message));
});

function findRead(parse: (env: Environment) => unknown, env: Environment): string[] {
  const names = new Set<string>();
  const get = (target: Environment, name: string) => {
    names.add(name);
    return target[name];
  };
  parse(new Proxy(env, { get }));
  return [...names].filter((name) => !name.startsWith('AWS_')).toSorted();
}
/** The variables that Terraform sets. */
const findSet = (files: string[]) =>
  files.flatMap((file) =>
    Array.from(
      readText(`infra/terraform/${file}.tf`).matchAll(/^ {4,}([A-Z_]+) += /gm),
      ([, name = '']) => name,
    ),
  );

const MAILER = { TABLE_NAME: 't', STAGE: 's', INBOX_TO: 'a@b.example', INBOX_FROM: 'c@d.example' };
const RECEIVER = {
  ...MAILER,
  REPLY_DOMAIN: 'e.example',
  REPLY_FROM: '@b.example',
  MAIL_BUCKET: 'b',
};
it.each([
  ['function', parseConfig, REQUIRED, ['function']],
  ['mailer', parseMailerConfig, MAILER, ['mailer/main']],
  ['receiver', parseReceiverConfig, RECEIVER, ['mailer/main', 'mailer/receiver']],
])('every setting of the %s is in Terraform and docs', (_, parse, env, files) => {
  const read = findRead(parse, env);
  expect(new Set(findSet(files))).toEqual(new Set(read));
  const documented = readText('docs/configuration.md');
  expect(read.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
});
