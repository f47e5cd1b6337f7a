import { expect, it } from 'vitest';
import { toMailbox } from '../../text/mailbox.ts';

it.each([
  ['ana@example.com', 'ana@example.com'],
  ["a.n+a_!#$%&'*/?=^`{|}~-@sub.example.co.uk", "a.n+a_!#$%&'*/?=^`{|}~-@sub.example.co.uk"],
  ['ana@münchen.example', 'ana@xn--mnchen-3ya.example'],
  ['ana@例え.テスト', 'ana@xn--r8jz45g.xn--zckzah'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
])('%s is an address to which SES can send', (email, mailbox) =>
  expect(toMailbox(email)).toBe(mailbox),
);

// oxfmt-ignore
const REFUSED = [
  // Incomplete, malformed domains, misplaced dots.
  '', '@example.com', 'ana@', 'ana@localhost', 'ana@[127.0.0.1]', 'ana@example..com', 'ana@-example.com',
  'ana@example.com.', '.ana@example.com', 'a..na@example.com',
  // A line end, a space, a control, a name, two addresses, an encoded word.
  'ana@example.com\r\nBcc: eve@x.org', 'ana@ex\u00E4mple.com\n', ' ana@example.com', 'ana@exa\u202Emple.com',
  'Ana <ana@example.com>', '"ana"@example.com', 'ana(comment)@example.com', 'ana@eve@example.com',
  '=?utf-8?q?ana?=@example.com',
  // Letters that SES refuses, what Punycode would change, a path, an escape.
  'änä@example.com', 'ana@\uD800.com', 'ana@ex\u00E4mple\u3002com', 'ana@\uFB01rm.com', 'ana@exa\uFE0Fmple.com',
  'ana@exa\u115Fmple.com', 'a@ex%61mple.ex\u00E4mple', 'a@x.ex\u00E4mple/path',
  // Too long.
  `${'a'.repeat(65)}@example.com`, `a@${'b.'.repeat(150)}com`, `a@${'ä'.repeat(200)}.com`,
];
it.each(REFUSED)('%s is no address to which SES can send', (email) =>
  expect(toMailbox(email)).toBeUndefined(),
);
