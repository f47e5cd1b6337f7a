interface Key {
  key: string;
  code: string;
  shiftKey: boolean;
}

/** Without Latin letters, by position on a US keyboard. */
export function nameOf({ key, code, shiftKey }: Key): string {
  if (!/^.$/u.test(key)) return key;
  const isLatin = /[!-~]|\p{Script=Latin}/u.test(key);
  if (!isLatin && code === 'Slash') return shiftKey ? '?' : '/';
  const name = (isLatin ? key : code.replace(/^Key/, '')).toLowerCase();
  // With Shift, a sentence begins.
  return shiftKey && /^[a-z]$/.test(name) ? key : name;
}
