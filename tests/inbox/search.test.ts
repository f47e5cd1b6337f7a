import { expect, it } from 'vitest';
import { createSearch } from '../../inbox/search.ts';

const INQUIRY = {
  id: '01a201c0-abec-7001-8002-000000000003',
  email: 'Zoë@example.com',
  subject: 'Rücksendung: 返品',
  body: 'Order 01a2\nthe ﬁrst İtem',
};

it.each([
  ['', true],
  ['rückSENDUNG  zoe@ \n order', true],
  ['rücksendung refund', false],
  ['返品 first', true],
  ['order01a2', false],
  ['01a201c0-abec', true],
  ['01A201C0', true],
  ['01a201c', false],
  ['01a201c0-abee', false],
])('a search for %j finds it: %s', (text, isFound) => {
  expect(createSearch(text)(INQUIRY)).toBe(isFound);
});
