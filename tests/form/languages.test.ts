/** The texts of the contact form in its languages: complete, in the right plural forms, in the right characters. */
import { describe, expect, it } from 'vitest';
import { strings as en, type Strings } from '../../web/src/languages/en.ts';
import type { Plural } from '../../web/src/languages/strings.ts';
import { LANGUAGES } from '../../src/languages.ts';
import { loadLocale } from '../../web/src/locale.ts';

type Leaf = string | ((...values: string[]) => string) | Plural;

const FORM = await Promise.all(
  LANGUAGES.map(async (language) => [language, (await loadLocale(language, [])).strings] as const),
);
const TRANSLATIONS = FORM.filter(([language]) => language !== 'en');

/** Plural forms whose words may say the number. */
const IN_WORDS: ReadonlySet<string> = new Set(['zero', 'one', 'two']);

/** Texts that are the same in English. */
const SAME_AS_ENGLISH: Record<string, readonly string[]> = {
  fr: ['page.menu', 'form.fields.body'],
};

/** What the typography of a language excludes, besides straight quotes. */
const EXCLUDED: Record<string, RegExp> = {
  de: /[’”«»]|[^\u00a0]…/,
  fr: /[^\u202f][?!:;»]|«[^\u202f]|[“”„]/,
  es: /^[^¿]*\?|^[^¡]*!|[’“”„]/,
  ja: /[ ,.?!:;()]/,
  ar: /[,?;]|\p{Script=Latin}/u,
};

/** The script of a language that is not written in Latin letters. */
const SCRIPTS: Record<string, RegExp> = {
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  ar: /\p{Script=Arabic}/u,
};

/** All texts by their paths, such as `list.title`. */
function leavesOf(value: object, path: readonly string[] = []): [path: string, leaf: Leaf][] {
  return Object.entries(value).flatMap(([key, child]: [string, Leaf | object]) => {
    const isLeaf = typeof child !== 'object' || 'other' in child;
    return isLeaf ? [[[...path, key].join('.'), child]] : leavesOf(child, [...path, key]);
  });
}

const pluralsOf = (texts: Strings) =>
  leavesOf(texts).flatMap(([path, leaf]) => (typeof leaf === 'object' ? [{ path, leaf }] : []));

/**
 * The arguments of each function, by its path. English decides how many: a function that ignores its last argument has
 * a smaller `length`.
 */
const ARGUMENTS = new Map(
  leavesOf(en).map(([path, leaf]) => [
    path,
    Array.from({ length: typeof leaf === 'function' ? leaf.length : 0 }, (_, index) => `#${index}`),
  ]),
);

/** The texts as they are read: of functions, those with their arguments; of plurals, all forms. */
const textsOf = (texts: Strings): [path: string, text: string][] =>
  leavesOf(texts).flatMap(([path, leaf]) => {
    if (typeof leaf === 'string') return [[path, leaf]];
    if (typeof leaf === 'function') return [[path, leaf(...(ARGUMENTS.get(path) ?? []))]];
    return Object.entries(leaf).map(([category, form]) => [`${path}.${category}`, form]);
  });

const ENGLISH = new Map(textsOf(en));

describe.each(FORM)('the texts in %s', (language, texts) => {
  it('have one form for each plural category of the language, with the number unless words say it', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const plurals = pluralsOf(texts);
    expect(plurals.map(({ path, leaf }) => [path, Object.keys(leaf).toSorted()])).toEqual(
      plurals.map(({ path }) => [path, pluralCategories.toSorted()]),
    );
    const withoutNumber = plurals.filter(({ leaf }) =>
      Object.entries(leaf).some(
        ([category, form]) => !IN_WORDS.has(category) && !form.includes('{n}'),
      ),
    );
    expect(withoutNumber).toEqual([]);
  });

  it('have no straight quotes, no spaces at the ends or in pairs, and the punctuation of the language', () => {
    const wrong = textsOf(texts).filter(
      ([, text]) =>
        /['"`]|^\s|\s$|\s\s/.test(text) ||
        EXCLUDED[language]?.test(text.replace('{n}', '')) === true,
    );
    expect(wrong).toEqual([]);
  });

  it('leave no gap where the name of the company or the time to wait is missing', () => {
    const { page, failures } = texts;
    const limit = failures.wait('', '9:30');
    expect(limit).toContain('9:30');
    for (const text of [page.title(''), limit]) expect(text).not.toMatch(/\s[\s,]|\s$|。（/);
  });
});

describe.each(TRANSLATIONS)('the translation to %s', (language, texts) => {
  const translated = textsOf(texts);

  it('leaves nothing in English, nor in another script', () => {
    const given = translated.filter(([path]) => ENGLISH.get(path) !== '');
    const same = given.filter(([path, text]) => text === ENGLISH.get(path));
    expect(same.map(([path]) => path)).toEqual(SAME_AS_ENGLISH[language] ?? []);
    expect(given.filter(([, text]) => SCRIPTS[language]?.test(text) === false)).toEqual([]);
  });

  it('puts each argument in once', () => {
    const wrong = translated.filter(([path, text]) =>
      (ARGUMENTS.get(path) ?? []).some((argument) => text.split(argument).length !== 2),
    );
    expect(wrong).toEqual([]);
  });
});
