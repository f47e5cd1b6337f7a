/** The model of an inquiry: a fact, whole, that others may answer. docs/adr/0009 */
import { describe, expect, it } from 'vitest';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { EMAIL, SUB } from '../helpers/events.ts';

const entity = createInquiryEntity({ client: { send: async () => ({}) }, table: 'inquiries' });
const INQUIRY = {
  id: '01a1f794-6f77-70a2-a975-366ad3f1860a',
  cognito_sub: SUB,
  email: EMAIL,
  subject: 's',
  body: 'b',
  created_at: '2026-11-20T06:11:02.647Z',
};
const { id, cognito_sub, email } = INQUIRY;

describe('the model', () => {
  it.each(Object.keys(INQUIRY))('refuses an inquiry without %s', (name) => {
    const inquiry = { ...INQUIRY, [name]: undefined };
    expect(() => entity.put(inquiry).params()).toThrow(name);
  });

  it.each([...Object.keys(INQUIRY), 'reply', 'respondent', 'reply_at'])('takes text alone for %s', (name) => {
    const inquiry = { ...INQUIRY, [name]: 5 };
    expect(() => entity.put(inquiry).params()).toThrow(/type/);
  });

  it.each(Object.keys(INQUIRY))('never changes %s', (name) => {
    const change = { [name]: 'another' } as object;
    expect(() => entity.patch({ id, cognito_sub, email }).set(change).params()).toThrow(
      /read-only|readonly|key/i,
    );
  });

  it.each(['reply', 'respondent', 'reply_at'])('lets others write %s, and shows it to nobody', (name) => {
    const set = { [name]: 'x' };
    const key = { id, cognito_sub, email };
    expect(entity.patch(key).set(set).params()).toMatchObject({
      ExpressionAttributeValues: { [`:${name}_u0`]: 'x' },
    });
    const { Item } = entity.put(INQUIRY).params<{ Item: Record<string, unknown> }>();
    expect(entity.parse({ Item: { ...Item, ...set } }).data).toEqual(INQUIRY);
  });
});
