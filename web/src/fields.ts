/** The fields of the form. A further one is a line here and a label in each language. */
import type { CreateInquiryRequest } from '../../src/contract.ts';

export type FieldName = keyof CreateInquiryRequest;

/** A field that is not filled in is empty or absent. */
export type Texts = Readonly<CreateInquiryRequest>;

/** The attributes of each control, in the order of the form. */
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

/** Those that are not empty. */
export const textsOf = (texts: Texts): readonly string[] =>
  fieldNames.flatMap((name) => texts[name] || []);

/** As the service counts it: bytes of UTF-8. */
export const sizeOf = (texts: Texts): number =>
  new TextEncoder().encode(textsOf(texts).join('')).length;

export const hasText = (texts: Texts): boolean => textsOf(texts).length > 0;

export const isSame = (one: Texts, other: Texts): boolean =>
  fieldNames.every((name) => (one[name] ?? '') === (other[name] ?? ''));

/** Subject and body, and of the optional fields those with text. */
export const toRequest = (texts: Texts): CreateInquiryRequest => {
  const { subject, body } = texts;
  const filled = fieldNames.filter((name) => texts[name]);
  return { ...Object.fromEntries(filled.map((name) => [name, texts[name]])), subject, body };
};
