/** Whom the alarms of a stage reach, for the end of a deployment. */

interface Resource {
  readonly type: string;
  readonly name: string;
  /** `pending_confirmation` is missing in a subscription that this plan creates. */
  readonly values: { readonly endpoint?: string; readonly pending_confirmation?: boolean };
}

/**
 * Says whether alarms are mailed to nobody, and which addresses have not confirmed yet that they want these mails.
 *
 * @param shown - A plan as `terraform show -json` prints it.
 * @returns Lines; empty if there is nothing to do.
 */
export function describeNotifications(shown: string): string {
  const { planned_values } = JSON.parse(shown) as {
    planned_values?: { root_module?: { resources?: Resource[] } };
  };
  const subscriptions = (planned_values?.root_module?.resources ?? []).filter(
    // Bounces go to the mailer, which confirms nothing.
    ({ type, name }) => type === 'aws_sns_topic_subscription' && name !== 'bounces',
  );
  const pending = subscriptions.filter(({ values }) => values.pending_confirmation !== false);
  const lines = [
    ...(subscriptions.some(({ name }) => name === 'alarms')
      ? []
      : ['Alarms are mailed to nobody: set alarm_email for the stage, and deploy again.']),
    ...pending.map(
      ({ name, values: { endpoint = '' } }) =>
        `${endpoint} gets no mail of the topic ${name} before the link in AWS's mail "Subscription Confirmation" is opened.`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
