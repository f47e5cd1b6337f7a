import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../text/languages.ts';
import { baseOf, loadLocale } from '../../web/src/languages/locale.ts';
import { describeSendFailure, describeStatus } from '../../web/src/languages/messages.ts';

const SAME_AS_ENGLISH: Partial<Record<string, string[]>> = {
  fr: ['.page.menu', '.form.fields.body'],
};

/** Beside straight quotes, what the language's typography excludes. */
const EXCLUDED: Partial<Record<string, RegExp>> = {
  de: /[’”«»]|[^\u00a0]…/,
  fr: /[^\u202f][?!;»]|[^\u00a0]:|«[^\u202f]|[“”„]/,
  es: /^[^¿]*\?|^[^¡]*!|[’“”„]/,
  ja: /[ ,.?!:;()]|\p{Script=Latin}/u,
  ar: /[,?;]|\p{Script=Latin}/u,
};

/** Texts by path, such as `.list.title`; of functions, with the arguments #0 and #1. */
function textsOf(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, String(value('#0', '#1'))]];
  return Object.entries(value as object).flatMap(([key, child]) =>
    textsOf(child, `${path}.${key}`),
  );
}

const load = async (language: (typeof LANGUAGES)[number]) =>
  textsOf((await loadLocale(language, [])).strings);
const ENGLISH = new Map(await load('en'));

describe.each(LANGUAGES)('the texts in %s', async (language) => {
  const texts = await load(language);

  it('have one form for each plural category of the language', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const forms = texts.flatMap(([path]) => {
      const [, name, category = ''] = /^(.*)\.(zero|one|two|few|many|other)$/.exec(path) ?? [];
      return category === '' ? [] : [{ name, category }];
    });
    const plurals = Map.groupBy(forms, ({ name }) => name);
    expect(plurals.size).toBeGreaterThan(1);
    for (const members of plurals.values()) {
      expect(members.map(({ category }) => category).toSorted()).toEqual(
        pluralCategories.toSorted(),
      );
    }
    // Other forms may have the number in words.
    const silent = texts.filter(
      ([path, text]) => /\.(few|many|other)$/.test(path) && !text.includes('{n}'),
    );
    expect(silent).toEqual([]);
  });

  it('have no straight quotes or stray spaces, and the punctuation of the language', () => {
    const isWrong = (text: string) =>
      /['"`]|^\s|\s$|\s\s/.test(text) || EXCLUDED[language]?.test(text.replace('{n}', ''));
    expect(texts.filter(([, text]) => isWrong(text))).toEqual([]);
  });

  it('leave nothing in English, and put each argument in once', () => {
    const same = texts.filter(([path, text]) => text === ENGLISH.get(path)).map(([path]) => path);
    expect(same).toEqual(
      language === 'en' ? [...ENGLISH.keys()] : (SAME_AS_ENGLISH[language] ?? []),
    );
    const argumentsOf = (text = '') => String(text.match(/#\d/g)?.toSorted());
    const wrong = texts.filter(
      ([path, text]) =>
        // Plural forms that English lacks.
        ENGLISH.has(path) && argumentsOf(text) !== argumentsOf(ENGLISH.get(path)),
    );
    expect(wrong).toEqual([]);
  });
});

const LOCALES =
  'en-US en-GB en-CA en-AU en-IN en-ZA en-IE de-DE de-AT de-CH fr-FR fr-CA fr-CH fr-BE es-ES es-MX es-CO es-AR es-CL es-US es-PE es-VE es-419 ja-JP ar ar-EG ar-SA ar-LB ar-MA ar-AE ar-IQ ar-DZ';
/** The first of a month and one o'clock have forms of their own. */
const TIMES = [new Date(2026, 10, 1, 1, 7), new Date(2026, 10, 20, 17, 7)].map(Number);

async function formatIn(tag: string) {
  const language = LANGUAGES.find((one) => one === baseOf(tag)) ?? 'en';
  // The form is not in Dutch.
  const locale = await loadLocale(language, ['nl', tag]);
  const titles = [
    ...TIMES.map((time) => locale.formatDay(new Date(time))),
    ...[0, 1].map((ago) => locale.formatDay(new Date(), ago)),
    ...LANGUAGES.map((one) => locale.nameOf(one)),
  ];
  const sentences = TIMES.flatMap((at) => [
    describeSendFailure(locale, { kind: 'limit', mayBeDone: false, at }).text ?? '',
    describeStatus(locale, { kind: 'old-attempt', at }).text ?? '',
  ]);
  const count = locale.count(locale.strings.list.count, 1_234);
  const size = locale.formatBytes(1);
  return { titles, sentences, size, all: [...titles, ...sentences, count, size] };
}

it.each(LOCALES.split(' '))('times, numbers and titles are right in %s', async (tag) => {
  const { titles, sentences, size, all } = await formatIn(tag);
  expect(titles.filter((text) => !/^[^\p{Ll}]/u.test(text))).toEqual([]);
  // Two full stops after "p.m.", or a date in digits.
  expect(sentences.filter((text) => /\.\.|\d[./-]\d/.test(text))).toEqual([]);
  expect(all.filter((text) => /[^\P{Nd}0-9]/u.test(text))).toEqual([]);
  expect(size).not.toContain(' ');
});

it('dates and hours stand in sentences as each language and region puts them', async () => {
  const said = await Promise.all(
    [...LANGUAGES, 'en-GB'].map(async (tag) => (await formatIn(tag)).sentences.join('\n')),
  );
  expect(said.join('\n\n')).toMatchSnapshot();
});
