/** In a trial (mail/trial.ts) the functions do everything but send; other events concern no mail. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { assert } from '../../lib/contract/contract-checks.ts';
import type { Invoke } from './invoke.ts';
import type { Check } from './run-checks.ts';

function toStreamEvent(email: string, isReply: boolean) {
  const time = new Date().toISOString();
  const inquiry = {
    __edb_e__: 'inquiry',
    __edb_v__: '1',
    id: '019aa0c8-6f77-70a2-a975-366ad3f1860a',
    cognito_sub: crypto.randomUUID(),
    email,
    subject: 'Test',
    body: 'Left by a deployment.',
    created_at: time,
  };
  const reply = { reply: 'Test', respondent: 'deployment', reply_at: time };
  const record = {
    eventID: '1',
    eventName: isReply ? 'MODIFY' : 'INSERT',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      SequenceNumber: '1',
      NewImage: marshall({ ...inquiry, ...(isReply && reply) }),
      ...(isReply && { OldImage: marshall(inquiry) }),
    },
  };
  return { Records: [record] };
}
const toQueueEvent = (body: string) => ({
  Records: [{ eventSource: 'aws:sqs', messageId: 'trial', body }],
});

/** The recipients of the mails that a trial would have sent. */
async function expectMail(invoke: Invoke, event: object): Promise<string> {
  const { result } = await invoke({ ...event, trial: true });
  const { mails } = result;
  assert(
    Array.isArray(mails) && mails.length === 1,
    `it would send no mail: ${JSON.stringify(result)}`,
  );
  return `would be sent to ${mails.join()}`;
}

/** To an address that no inquiry has: the receiver passes it to the team. */
const toReceiptEvent = (domain: string) =>
  toQueueEvent(
    JSON.stringify({
      mail: { messageId: 'trial', source: 'test@trial.invalid' },
      receipt: {
        recipients: [`r2601-019aa0c86f7770a2a975366ad3f1860a${'0'.repeat(24)}@${domain}`],
        ...Object.fromEntries(
          ['dmarc', 'spam', 'virus'].map((name) => [`${name}Verdict`, { status: 'PASS' }]),
        ),
      },
    }),
  );

export function createMailerChecks(invoke: Invoke): Check[] {
  const expectResult = async (event: object, expected: object): Promise<void> => {
    const found = JSON.stringify((await invoke(event)).result);
    assert(found === JSON.stringify(expected), `it answered ${found}`);
  };
  const bounce = {
    bounce: { feedbackId: crypto.randomUUID(), bounceType: 'Permanent', bouncedRecipients: [] },
    mail: { destination: ['test@trial.invalid'], tags: {} },
  };
  const checks = [false, true].flatMap((isReply): Check[] => [
    [
      `a record of ${isReply ? 'a reply' : 'an inquiry'} becomes a mail`,
      () => expectMail(invoke, toStreamEvent('test@trial.invalid', isReply)),
    ],
    [
      `a record of ${isReply ? 'a reply to a test' : 'a test'} is handled`,
      () =>
        expectResult(toStreamEvent('test@inquiries.invalid', isReply), { batchItemFailures: [] }),
    ],
  ]);
  return [
    ...checks,
    ['a bounce becomes a mail', () => expectMail(invoke, toQueueEvent(JSON.stringify(bounce)))],
    ['a text of SES is handled', () => expectResult(toQueueEvent('Test'), { outcomes: ['idle'] })],
    [
      'the timer is handled',
      async () => {
        const { result } = await invoke({ digest: true, trial: true });
        const answered = JSON.stringify(result['result']);
        const isRight = /^{"digest":"(idle|sent)","daily":"(idle|sent)"}$/.test(answered);
        assert(isRight, `it answered ${answered}`);
      },
    ],
  ];
}

export const createReceiverChecks = (invoke: Invoke, domain: string): Check[] => [
  ['a received mail becomes one to the team', () => expectMail(invoke, toReceiptEvent(domain))],
];
