/** The model of an inquiry: a fact, whole, that others may answer. docs/adr/0009 */
import { expect, it } from 'vitest';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { INQUIRY } from '../helpers/events.ts';

const entity = createInquiryEntity('inquiries');
const { id, cognito_sub, email } = INQUIRY;
const key = { id, cognito_sub, email };

it.each(Object.keys(INQUIRY))('refuses an inquiry without %s', (name) => {
  const inquiry = { ...INQUIRY, [name]: undefined };
  expect(() => entity.put(inquiry).params()).toThrow(name);
});

it.each([...Object.keys(INQUIRY), 'reply', 'respondent', 'reply_at'])(
  'accepts only strings for %s',
  (name) => {
    const inquiry = { ...INQUIRY, [name]: 5 };
    expect(() => entity.put(inquiry).params()).toThrow(/type/);
  },
);

it.each(Object.keys(INQUIRY))('never changes %s', (name) => {
  const change = { [name]: 'another' } as object;
  expect(() => entity.patch(key).set(change).params()).toThrow(/read-only|readonly|key/i);
});
