import { expect, it } from 'vitest';
import { createDeliveries } from '../../src/entities/deliveries.ts';
import { createErasureRecords } from '../../src/entities/erasures.ts';
import { createQuotas } from '../../src/entities/quotas.ts';
import { createReplyKeys } from '../../src/entities/reply-keys.ts';
import { createRequests } from '../../src/entities/requests.ts';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { openTable } from '../../src/entities/table.ts';
import { readText } from '../helpers/repository.ts';

const table = openTable('inquiries');
const parts = readText('docs/data-model.md').split(/(?=\*\*`)/);

it.each([
  ['requests.ts', createRequests('inquiries')],
  ['stored-inquiries.ts', createStoredInquiries(table)],
  ['deliveries.ts', createDeliveries(table)],
  ['quotas.ts', createQuotas(table)],
  ['reply-keys.ts', createReplyKeys(table)],
  ['erasures.ts', createErasureRecords(table)],
])('the access patterns of %s are its exports', (file, port) => {
  const rows = parts.find((part) => part.startsWith(`**\`${file}\`**`)) ?? '';
  const named = [...rows.matchAll(/^\| (?!…)(.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(new Set(named)).toEqual(new Set(Object.keys(port)));
});
