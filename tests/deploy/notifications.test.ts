import { expect, it } from 'vitest';
import { describeNotifications } from '../../deploy/notifications.ts';

const subscription = (topic: string, endpoint: string, pending_confirmation?: boolean) => ({
  protocol: 'email',
  topic_arn: `arn:aws:sns:eu-central-1:111122223333:${topic}`,
  endpoint,
  ...(pending_confirmation !== undefined && { pending_confirmation }),
});

it('a stage whose alarms nobody gets is told so', () => {
  const bounces = { ...subscription('bounces', 'arn:aws:lambda:…'), protocol: 'lambda' };
  expect(describeNotifications({ subscriptions: [bounces] })).toBe(
    'Alarms are mailed to nobody: set alarm_email for the stage, and deploy again.\n',
  );
});

it('subscriptions that are new or not confirmed yet are named, and others are not', () => {
  const confirmed = subscription('alarms', 'ana@example.com', false);
  const subscriptions = [
    subscription('alarms', 'oncall@example.com', true),
    confirmed,
    subscription('form', 'team@example.com'),
  ];
  expect(describeNotifications({ subscriptions }).split('\n')).toEqual([
    expect.stringMatching(/^oncall@example\.com gets no mail of the topic alarms before /),
    expect.stringMatching(/^team@example\.com gets no mail of the topic form before /),
    '',
  ]);
  expect(describeNotifications({ subscriptions: [confirmed] })).toBe('');
});
