import { expect, it } from 'vitest';
import { describeNotifications } from '../../deploy/notifications.ts';

const subscription = (name: string, endpoint: string, pending_confirmation?: boolean) => ({
  type: 'aws_sns_topic_subscription',
  name,
  values: { endpoint, ...(pending_confirmation !== undefined && { pending_confirmation }) },
});
const describePlan = (...resources: object[]) =>
  describeNotifications(JSON.stringify({ planned_values: { root_module: { resources } } }));
const topic = { type: 'aws_sns_topic', name: 'alarms', values: {} };

it('a stage whose alarms nobody gets is told so', () => {
  expect(describePlan(topic, subscription('bounces', 'arn:aws:lambda:…'))).toBe(
    'Alarms are mailed to nobody: set alarm_email for the stage, and deploy again.\n',
  );
  expect(describeNotifications('{}')).toContain('nobody');
});

it('subscriptions that are new or not confirmed yet are named, and others are not', () => {
  const lines = describePlan(
    subscription('alarms', 'oncall@example.com', true),
    subscription('form', 'oncall@example.com', false),
    subscription('form', 'team@example.com'),
  );
  expect(lines.split('\n')).toEqual([
    expect.stringMatching(/^oncall@example\.com gets no mail of the topic alarms before /),
    expect.stringMatching(/^team@example\.com gets no mail of the topic form before /),
    '',
  ]);
  expect(describePlan(subscription('alarms', 'oncall@example.com', false))).toBe('');
});
