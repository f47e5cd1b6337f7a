/** Whom the alarms of a stage reach, for the end of a deployment. */
import type { Plan } from './plan.ts';

/**
 * Says whether alarms are mailed to nobody, and which addresses have not confirmed yet that they want these mails.
 *
 * @returns Lines; empty if there is nothing to do.
 */
export function describeNotifications({ subscriptions }: Pick<Plan, 'subscriptions'>): string {
  // What a plan creates has no `pending_confirmation` yet. Functions confirm nothing.
  const mails = subscriptions.filter(({ protocol }) => protocol !== 'lambda');
  const lines = mails
    .filter(({ pending_confirmation: pending }) => pending !== false)
    .map(
      ({ endpoint, topic_arn: topic }) =>
        `${String(endpoint)} gets no mail of the topic ${String(topic).split(':').at(-1)} before the link in AWS's mail "Subscription Confirmation" is opened.`,
    );
  if (mails.length === 0) {
    lines.push('Alarms are mailed to nobody: set alarm_email for the stage, and deploy again.');
  }
  return lines.map((line) => `${line}\n`).join('');
}
