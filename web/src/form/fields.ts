/** The form's fields. Another one is a line here and a label in each language. */
import type { CreateInquiryRequest } from '../../../src/contract.ts';

export type FieldName = keyof CreateInquiryRequest;

/** An optional field may be empty or absent. */
export type Texts = Readonly<CreateInquiryRequest>;

/** Attributes, in the form's order. */
export const CONTROLS: Readonly<Record<FieldName, Record<string, string>>> = {
  subject: { type: 'text', autocomplete: 'off' },
  body: {
    rows: '8',
    required: '',
    'aria-describedby': 'size',
    'aria-keyshortcuts': 'Control+Enter Meta+Enter',
  },
};

export const mapFields = <Value>(create: (name: FieldName) => Value): Record<FieldName, Value> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- CONTROLS has all names
  Object.fromEntries(fieldNames.map((name) => [name, create(name)])) as Record<FieldName, Value>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object is a literal
export const fieldNames = Object.keys(CONTROLS) as readonly FieldName[];

export const EMPTY: Texts = mapFields(() => '');

export const textsOf = (texts: Texts): readonly string[] =>
  fieldNames.flatMap((name) => texts[name] || []);

/** Bytes of UTF-8, as the service counts. */
export const sizeOf = (texts: Texts): number =>
  new TextEncoder().encode(textsOf(texts).join('')).length;

export const hasText = (texts: Texts): boolean => textsOf(texts).length > 0;

export const isSame = (one: Texts, other: Texts): boolean =>
  fieldNames.every((name) => (one[name] ?? '') === (other[name] ?? ''));

/** Leaves out optional fields without text. */
export const toRequest = (texts: Texts): CreateInquiryRequest => {
  const { subject, body } = texts;
  const filled = fieldNames.filter((name) => texts[name]);
  return { ...Object.fromEntries(filled.map((name) => [name, texts[name]])), subject, body };
};

/** @param colon - Between a topic and typed text. */
export function topicOf(subject: string, topics: string[], colon: string): string | undefined {
  return (
    topics.find((topic) => subject === topic) ??
    topics.find((topic) => subject.startsWith(topic + colon))
  );
}

/** Removes a topic that is chosen again. Keeps typed text. */
export function toggleTopic(
  subject: string,
  topic: string,
  topics: string[],
  colon: string,
): string {
  const chosen = topicOf(subject, topics, colon);
  const typed = chosen === undefined ? subject : subject.slice((chosen + colon).length);
  if (topic === chosen) return typed;
  return typed.trim() === '' ? topic : topic + colon + typed;
}
