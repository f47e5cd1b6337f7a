import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';

/** What each module of the function may import, and nothing else. A type-only import is marked with `type`. */
const RULES: Record<string, string[]> = {
  'src/handler.ts': [
    'type aws-lambda',
    'src/app.ts',
    'src/config.ts',
    'src/entities/client.ts',
    'src/entities/inquiry-store.ts',
    'src/inquiries.ts',
    'src/log.ts',
    'src/warm-up.ts',
  ],
  'src/app.ts': [
    'type aws-lambda',
    'type src/contract.ts',
    'src/errors.ts',
    'src/http.ts',
    'src/identity.ts',
    'type src/inquiries.ts',
    'type src/log.ts',
  ],
  'src/identity.ts': ['uuidv7', 'src/errors.ts'],
  'src/inquiries.ts': ['uuidv7', 'src/contract.ts', 'src/errors.ts', 'type src/identity.ts', 'src/limits.ts'],
  'src/contract.ts': ['uuidv7', 'src/errors.ts'],
  'src/errors.ts': ['src/limits.ts'],
  'src/http.ts': ['src/contract.ts', 'src/errors.ts'],
  'src/limits.ts': [],
  'src/warm-up.ts': ['node:stream', 'type src/http.ts', 'type src/identity.ts'],
  'src/config.ts': [],
  'src/log.ts': ['src/contract.ts', 'src/errors.ts'],
  'src/entities/client.ts': ['node:stream/consumers', '@aws-sdk/client-dynamodb', '@aws-sdk/core/protocols'],
  'src/entities/inquiry.ts': ['electrodb'],
  'src/entities/idempotency-key.ts': ['node:crypto', 'electrodb'],
  'src/entities/inquiry-store.ts': [
    '@aws-sdk/client-dynamodb',
    'src/contract.ts',
    'type src/inquiries.ts',
    'src/limits.ts',
    'src/entities/idempotency-key.ts',
    'src/entities/inquiry.ts',
  ],
  'src/entities/delivery.ts': ['electrodb'],
  'src/mailer/handler.ts': [
    'src/entities/client.ts',
    'src/mailer/config.ts',
    'src/mailer/log.ts',
    'src/mailer/mailer.ts',
    'src/mailer/ses.ts',
    'src/mailer/store.ts',
  ],
  'src/mailer/mailer.ts': [
    'type aws-lambda',
    'type src/contract.ts',
    'src/entities/inquiry-store.ts',
    'type src/mailer/config.ts',
    'type src/mailer/log.ts',
    'src/mailer/mails.ts',
    'type src/mailer/ses.ts',
    'type src/mailer/store.ts',
  ],
  'src/mailer/mails.ts': [
    'type src/contract.ts',
    'type src/mailer/config.ts',
    'src/mailer/languages.ts',
    'src/mailer/text.ts',
  ],
  'src/mailer/languages.ts': [
    ...['ar', 'de', 'en', 'es', 'fr', 'ja'].map((language) => `web/src/languages/${language}.ts`),
    'type web/src/languages/strings.ts',
  ],
  'src/mailer/text.ts': ['node:url'],
  'src/mailer/config.ts': ['src/mailer/languages.ts', 'src/mailer/text.ts'],
  'src/mailer/log.ts': ['src/log.ts'],
  'src/mailer/ses.ts': ['@aws-sdk/client-sesv2', 'type src/mailer/mails.ts'],
  'src/mailer/store.ts': [
    'node:crypto',
    '@aws-sdk/client-dynamodb',
    'type src/contract.ts',
    'src/entities/delivery.ts',
    'src/entities/inquiry-store.ts',
    'src/entities/inquiry.ts',
    'src/mailer/mails.ts',
  ],
  'src/shims/credential-provider-node.ts': [],
  'src/shims/unused.ts': [],
};

const list = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).toSorted();

/** `type x` for a type-only import of x, relative paths resolved from the root. */
function importsOf(file: string): string[] {
  const found = readText(file).matchAll(
    /(?:^import(?<type> type)?\b[^;]*?|\bimport\()\s*['"](?<from>[^'"]+)['"]/gm,
  );
  return [...found].map(({ groups: { type = '', from = '' } = {} }) => {
    const target = from.startsWith('.') ? join(file, '..', from) : from;
    return `${type.trim()} ${target}`.trim();
  });
}

describe('the dependency rules', () => {
  it('has a line for every module of the function', () => {
    expect(list('src/**/*.ts')).toEqual(Object.keys(RULES).toSorted());
  });

  it.each(Object.entries(RULES))('%s imports only what it may', (file, allowed) => {
    const unexpected = importsOf(file).filter(
      (from) => !allowed.includes(from) && !allowed.includes(from.replace('type ', '')),
    );
    expect(unexpected).toEqual([]);
  });

  it('reads the environment in the two entries and in the shim for credentials only', () => {
    expect(list('src/**/*.ts').filter((file) => /process\.env|= process\b/.test(readText(file)))).toEqual([
      'src/handler.ts',
      'src/mailer/handler.ts',
      'src/shims/credential-provider-node.ts',
    ]);
  });

  it('sends requests in the stores and in ses.ts only, and none through ElectroDB', () => {
    const matching = (pattern: RegExp) => list('src/**/*.ts').filter((file) => pattern.test(readText(file)));
    expect(matching(/\.send\(/)).toEqual([
      'src/entities/inquiry-store.ts',
      'src/mailer/ses.ts',
      'src/mailer/store.ts',
    ]);
    expect(matching(/\.go\(/)).toEqual([]);
  });

  it('has status numbers of errors in errors.ts only', () => {
    const withStatus = list('src/**/*.ts').filter((file) => /\b(400|401|405|413)[,)]/.test(readText(file)));
    expect(withStatus).toEqual(['src/errors.ts']);
  });

  it('never imports a handler, which starts its work on import', () => {
    const importers = list('{src,scripts}/**/*.ts').filter((file) =>
      importsOf(file).some((from) => /src\/(mailer\/)?handler\.ts$/.test(from)),
    );
    expect(importers).toEqual([]);
  });

  it('imports nothing of the mailer in the request function', () => {
    const importers = list('src/{*,entities/*,shims/*}.ts').filter((file) =>
      importsOf(file).some((from) => from.includes('src/mailer/')),
    );
    expect(importers).toEqual([]);
  });

  it('bundles no code of the function into the contact form: types, and the sizes in limits.ts', () => {
    const fromSource = list('web/src/*.ts')
      .flatMap(importsOf)
      .filter((from) => /^(type )?src\//.test(from));
    expect([...new Set(fromSource)].toSorted()).toEqual(['src/limits.ts', 'type src/contract.ts']);
  });

  it('bundles modules of the form into the operators’ page, and of the command only types', () => {
    const folder = 'inbox/page/';
    const fromElsewhere = list(`${folder}*.ts`)
      .flatMap(importsOf)
      .filter((from) => !from.replace('type ', '').startsWith(folder) && !from.includes('web/src/'));
    expect(fromElsewhere).toEqual(['type inbox/server.ts']);
  });
});
