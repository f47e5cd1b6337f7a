/** Removes what people write differently: case, width, invisible characters, dots and a tag before the `@`. */
function fold(email: string): string {
  const text = email.normalize('NFKC').toLowerCase();
  const seen = text.replaceAll(/[\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
  const at = seen.lastIndexOf('@');
  const [name = ''] = seen.slice(0, at).split('+', 1);
  return name.replaceAll('.', '') + seen.slice(at);
}

/** Whether two addresses may be one person's; equal ones are. */
export const isNear = (one: string, other: string): boolean => fold(one) === fold(other);
