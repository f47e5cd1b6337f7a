import { Lambda } from '@aws-sdk/client-lambda';
import { createTarget, describeFailure, NETWORK } from '../lib/aws/aws.ts';

/** The most ids that one invocation takes (mail/mailer.ts). */
const IDS_LIMIT = 100;
/** Waits for longer than the mailer's timeout, a minute, and does not send a request twice. */
const PATIENT = {
  ...NETWORK,
  maxAttempts: 1,
  requestHandler: { ...NETWORK.requestHandler, requestTimeout: 70_000, socketTimeout: 70_000 },
};

/**
 * Has the live mailer send the mails that are due about inquiries.
 *
 * @param name - The function's.
 * @param again - Also what was sent or withheld.
 * @returns The outcome of each mail.
 * @throws Error if the mailer fails; what it has sent is recorded, so that it is not sent twice.
 */
export async function sendMails(name: string, ids: string[], again = false): Promise<string[]> {
  const lambda = new Lambda(PATIENT);
  const outcomes: string[] = [];
  for (let at = 0; at < ids.length; at += IDS_LIMIT) {
    const Payload = JSON.stringify({ ids: ids.slice(at, at + IDS_LIMIT), again });
    const FunctionName = `${name}-mailer:live`;
    const found = await lambda.invoke({ FunctionName, Payload }).catch((error: unknown) => {
      const missing = `The stage has no mailer: ${FunctionName} does not exist in this account and region.`;
      throw describeFailure(error, { ...createTarget({ stage: name }), missing });
    });
    const text = found.Payload?.transformToString() ?? '';
    if (found.FunctionError !== undefined) {
      throw new Error(`The mailer failed (${found.FunctionError}); see logs mailer-errors.`);
    }
    const { results } = JSON.parse(text) as { results: { outcome: string }[] };
    outcomes.push(...results.map(({ outcome }) => outcome));
  }
  return outcomes;
}

export const areDone = (outcomes: readonly string[]): boolean =>
  !outcomes.some((outcome) => outcome === 'failed' || outcome === 'deferred');
