import { expect, it } from 'vitest';
import { toMailbox } from '../../src/mailbox.ts';

it.each([
  ['ana@example.com', 'ana@example.com'],
  ["a.n+a_!#$%&'*/?=^`{|}~-@sub.example.co.uk", "a.n+a_!#$%&'*/?=^`{|}~-@sub.example.co.uk"],
  ['ana@münchen.example', 'ana@xn--mnchen-3ya.example'],
  ['ana@例え.テスト', 'ana@xn--r8jz45g.xn--zckzah'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
])('%s is an address to which SES can send', (email, mailbox) =>
  expect(toMailbox(email)).toBe(mailbox),
);

it.each([
  ['is incomplete', ['', '@example.com', 'ana@', 'ana@localhost', 'ana@[127.0.0.1]']],
  ['has a malformed domain', ['ana@example..com', 'ana@-example.com', 'ana@example.com.']],
  ['has misplaced dots', ['.ana@example.com', 'a..na@example.com']],
  ['has a line end', ['ana@example.com\r\nBcc: eve@x.org', 'ana@ex\u00E4mple.com\n']],
  ['has a space or a control', [' ana@example.com', 'ana@exa\u202Emple.com']],
  ['has a name', ['Ana <ana@example.com>', '"ana"@example.com', 'ana(comment)@example.com']],
  ['is two addresses', ['ana@eve@example.com']],
  ['has letters that SES does not take', ['änä@example.com', 'ana@\uD800.com']],
  ['has an encoded word', ['=?utf-8?q?ana?=@example.com']],
  ['would be changed by Punycode', ['ana@ex\u00E4mple\u3002com', 'ana@\uFB01rm.com']],
  ['has what Punycode leaves out', ['ana@exa\uFE0Fmple.com', 'ana@exa\u115Fmple.com']],
  ['has a path or an escape', ['a@ex%61mple.ex\u00E4mple', 'a@x.ex\u00E4mple/path']],
  ['has a long local part', [`${'a'.repeat(65)}@example.com`]],
  ['has a long domain', [`a@${'b.'.repeat(150)}com`, `a@${'ä'.repeat(200)}.com`]],
])('an address to which SES cannot send %s', (_, emails) => {
  for (const email of emails) expect([email, toMailbox(email)]).toEqual([email, undefined]);
});
