import { resolveMx, resolveTxt } from 'node:dns/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2, type GetAccountCommandOutput } from '@aws-sdk/client-sesv2';
import { NETWORK } from '../../lib/aws/aws.ts';
import { assert } from '../../lib/contract/contract-checks.ts';
import type { StageOutputs } from '../stage.ts';
import { liveOf } from '../versions.ts';
import { Pending, type Check } from './run-checks.ts';

async function checkMappings(name: string): Promise<string> {
  const { EventSourceMappings = [] } = await new Lambda(NETWORK).listEventSourceMappings({
    FunctionName: liveOf(name),
  });
  assert(EventSourceMappings.length > 0, 'it reads nothing; deploy the stage');
  for (const { UUID, State = '', LastProcessingResult: result = '' } of EventSourceMappings) {
    assert(!/problem/i.test(result), `${result}: docs/runbook.md, "mailer-delay"`);
    if (/^(Creat|Enabling|Updat)/.test(State)) throw new Pending(`a mapping is ${State}`);
    assert(
      State === 'Enabled',
      `a mapping is ${State}; on again: deploy, or aws lambda update-event-source-mapping --uuid ${UUID} --enabled`,
    );
  }
  return `${EventSourceMappings.length} mappings`;
}

/** Whether SES sends for the identity. Its plan fails no deployment (docs/operations.md). */
async function checkIdentity(EmailIdentity: string): Promise<string> {
  const ses = new SESv2(NETWORK);
  const {
    VerifiedForSendingStatus: isVerified,
    VerificationStatus: status,
    DkimAttributes: { Tokens = [], SigningHostedZone = 'dkim.amazonses.com' } = {},
  } = await ses.getEmailIdentity({ EmailIdentity });
  if (isVerified) {
    const { PricingAttributes: { CurrentPlan: plan = 'unknown' } = {} } = await ses
      .getAccount()
      .catch(() => ({}) as GetAccountCommandOutput);
    return `${EmailIdentity}, plan ${plan}`;
  }
  const records = Tokens.map(
    (token) => `${token}._domainkey.${EmailIdentity} CNAME ${token}.${SigningHostedZone}`,
  );
  throw new Pending(`${EmailIdentity} is ${status}; enter in its DNS: ${records.join(', ')}`);
}

/** Whether the domain or a parent of it has a DMARC record (RFC 7489, 6.6.3). */
async function hasDmarc(domain: string): Promise<boolean> {
  const records = await resolveTxt(`_dmarc.${domain}`).catch(() => []);
  if (records.some((parts) => parts.join('').startsWith('v=DMARC1'))) return true;
  const parent = domain.slice(domain.indexOf('.') + 1);
  return parent.includes('.') && hasDmarc(parent);
}

/** Whether mails come to SES, and whether it can tell who wrote them. */
async function checkReplies(
  records: NonNullable<StageOutputs['mail_dns_records']>,
  from: readonly string[],
): Promise<string> {
  const missing: string[] = [];
  for (const { name, type, value } of records.filter((record) => record.type === 'MX')) {
    const found = await resolveMx(name).catch(() => []);
    if (!found.some(({ exchange }) => value.endsWith(` ${exchange}`))) {
      missing.push(`${name} ${type} ${value}`);
    }
  }
  const domains = new Set(from.map((sender) => sender.slice(sender.indexOf('@') + 1)));
  for (const domain of domains) {
    if (!(await hasDmarc(domain))) missing.push(`_dmarc.${domain} TXT "v=DMARC1; p=none"`);
  }
  if (missing.length === 0) return [...domains].join(', ');
  throw new Pending(
    `no answer by mail is taken before these are in the DNS: ${missing.join(', ')}`,
  );
}

/** Sends a mail to an address that bounces (SES, "mailbox simulator"). */
async function sendBounce({ mail, function: { name } }: StageOutputs): Promise<string> {
  await new SESv2(NETWORK).sendEmail({
    FromEmailAddress: mail?.from,
    Destination: { ToAddresses: ['bounce@simulator.amazonses.com'] },
    ConfigurationSetName: name,
    Content: { Simple: { Subject: { Data: 'Test' }, Body: { Text: { Data: 'Test' } } } },
  });
  return 'sent; the team gets a mail about it within minutes, or see docs/runbook.md, "mailer-failures"';
}

export function createMailChecks(outputs: StageOutputs, bounces: boolean): Check[] {
  const { mailer, mail, mail_dns_records = [], reply_from } = outputs;
  const checks = Object.values(mailer).map(({ name }): Check => [
    `events are read for ${name}`,
    () => checkMappings(name),
  ]);
  if (mail) checks.push(['SES may send for the domain', () => checkIdentity(mail.identity)]);
  if (reply_from) {
    checks.push(['SES receives answers', () => checkReplies(mail_dns_records, reply_from)]);
  }
  if (bounces) checks.push(['a mail bounces', () => sendBounce(outputs)]);
  return checks;
}
