import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { formatAnnouncement } from '../../local/announcement.ts';
import type { Settings } from '../../local/settings.ts';
import type { Stack } from '../../local/stack.ts';

const url = 'http://127.0.0.1:3000';
const stack = {
  url,
  formUrl: url,
  corsOrigins: [url],
  docsUrl: url,
  demoUrl: url,
  mailboxUrl: url,
  issuer: { url, clientId: 'c' },
  engine: { name: 'dynamodb-local', url },
  tableName: 't',
} as unknown as Stack;
const settings = { engine: 'dynamodb-local', folder: '/tmp/data' } as unknown as Settings;
const announce = (columns: number): string =>
  stripVTControlCharacters(
    formatAnnouncement(stack, settings, {
      isBuilt: false,
      seeded: undefined,
      otherEngine: 'dynalite',
      columns,
    }),
  );

it('names the inquiries of the engine that does not run', () => {
  expect(announce(200)).toContain(
    'dynalite has inquiries of its own   (shown by --engine dynalite)',
  );
});

it('puts notes below their values where the terminal is too narrow', () => {
  const [rows = ''] = announce(60).split('Send an inquiry');
  expect(rows).toContain(`Demo       ${url}\n             (a page of another site`);
  expect(Math.max(...rows.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60);
});
