/**
 * JSON of any size in little memory. `JSON.parse` builds a tree: 2 MB of `[` take 90 MB, and 6 MB of `{}` more than
 * the function has. A long text is therefore checked character by character, and only what is asked for is kept.
 * docs/adr/0062
 */

/** UTF-16 code units up to which a text is parsed into a tree: some 50 bytes for each at worst. */
const TREE_LIMIT = 256 * 1024;

/**
 * Parses JSON as `JSON.parse` does. Of a longer text only the named fields of an object are kept: strings as they
 * are, and null for any other value. Any other text than an object is null, then.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string, fields: readonly string[]): unknown {
  return text.length <= TREE_LIMIT ? JSON.parse(text) : parseFields(text, fields);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ARRAY = 0x5b;
const OBJECT = 0x7b;
/** From an opening bracket to its closing one, square or curly. */
const TO_CLOSING = 2;

/** {@link parseJson} of a long text, by RFC 8259. Of duplicate keys the last wins. */
export function parseFields(text: string, fields: readonly string[]): Record<string, string | null> | null {
  /** The JSON of each field that is a string. */
  const found = new Map<string, string | null>();
  // The opening brackets of what is open, one byte each. What opens has to close, so there is room for all.
  const open = new Uint8Array(Math.ceil(text.length / 2) + 1);
  let depth = 0;
  let field: string | undefined;
  let at = skipSpace(text, 0);
  const isObject = text.charCodeAt(at) === OBJECT;

  for (;;) {
    // A value begins.
    const start = at;
    const first = text.charCodeAt(at);
    const kept = depth === 1 ? field : undefined;
    if (kept !== undefined) found.set(kept, null);
    if (first === OBJECT || first === ARRAY) {
      open[++depth] = first;
      if (depth > text.length - at) throw unexpected(text.length);
      at = skipSpace(text, at + 1);
      if (text.charCodeAt(at) !== first + TO_CLOSING) {
        if (first === ARRAY) continue;
        if (depth === 1) field = findField(text, at, fields);
        at = skipKey(text, at);
        continue;
      }
    } else if (first === QUOTE) {
      at = skipString(text, at);
      if (kept !== undefined) found.set(kept, text.slice(start, at));
    } else {
      at = skipLiteral(text, at);
    }

    // A value has ended, and whatever ends with it.
    at = skipSpace(text, at);
    while (depth > 0 && text.charCodeAt(at) === (open[depth] ?? 0) + TO_CLOSING) {
      depth--;
      at = skipSpace(text, at + 1);
    }
    if (depth === 0) break;
    if (text.charCodeAt(at) !== COMMA) throw unexpected(at);
    at = skipSpace(text, at + 1);
    if (open[depth] === OBJECT) {
      if (depth === 1) field = findField(text, at, fields);
      at = skipKey(text, at);
    }
  }
  if (at < text.length) throw unexpected(at);
  return isObject
    ? Object.fromEntries([...found].map(([name, json]) => [name, json && parseString(json)]))
    : null;
}

// What is skipped is checked on the way. Each takes the place where it begins and returns the one after it.

function skipSpace(text: string, start: number): number {
  let at = start;
  for (; ; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

/** A key, its colon and the space around it. */
function skipKey(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw unexpected(start);
  const colon = skipSpace(text, skipString(text, start));
  if (text.charCodeAt(colon) !== COLON) throw unexpected(colon);
  return skipSpace(text, colon + 1);
}

const ESCAPE = /["\\/bfnrt]|u[\dA-Fa-f]{4}/y;

function skipString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at = skip(ESCAPE, text, at + 1);
    // Control characters, and NaN at the end of the text.
    else if (code >= 0x20) at++;
    else throw unexpected(at);
  }
}

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][-+]?\d+)?/y;

const skipLiteral = (text: string, start: number): number => skip(LITERAL, text, start);

function skip(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  if (!pattern.test(text)) throw unexpected(start);
  return pattern.lastIndex;
}

/** Which of the fields the key is that begins here. */
function findField(text: string, start: number, fields: readonly string[]): string | undefined {
  // Each character of a key may be an escape of six.
  const longest = 2 + 6 * Math.max(...fields.map(({ length }) => length));
  const end = text.charCodeAt(start) === QUOTE ? skipString(text, start) : start;
  if (end === start || end - start > longest) return undefined;
  const json = text.slice(start, end);
  return fields.find((name) => json === `"${name}"` || (json.includes('\\') && parseString(json) === name));
}

const parseString = (json: string): string => String(JSON.parse(json));

const unexpected = (at: number): SyntaxError =>
  new SyntaxError(`Unexpected character in JSON at position ${at}`);
