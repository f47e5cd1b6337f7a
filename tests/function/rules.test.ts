/** Rules of the code that no linter rule holds. Its other arrows are in oxlint.config.ts. */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';

const listFiles = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).toSorted();
const listMatching = (pattern: string, text: RegExp): string[] =>
  listFiles(pattern).filter((file) => text.test(readText(file)));

it('only the stores and ses.ts send requests', () => {
  expect(listMatching('src/**/*.ts', /\.(send|go)\(/)).toEqual([
    'src/entities/inquiry-index.ts',
    'src/entities/inquiry-store.ts',
    'src/mailer/ses.ts',
    'src/mailer/store.ts',
  ]);
});

it('only errors.ts has status numbers of errors', () => {
  expect(listMatching('src/**/*.ts', /\b(400|401|405|409|413|422|429|500)[,)]/)).toEqual([
    'src/errors.ts',
  ]);
});

it('nothing imports a handler, which starts its work on import', () => {
  const rooms = '{src,lib,inbox,deploy,scripts,bench,web}/**/*.ts';
  expect(listMatching(rooms, /(from|import\()\s*'[^']*\/handler\.ts'/)).toEqual([]);
});

it('the form has no code of the contract, only types', () => {
  expect(
    listMatching('web/{src,ui}/**/*.ts', /^import \{[^}]*\} from '[^']*src\/contract\.ts'/m),
  ).toEqual([]);
});

it.each([
  ['src', []],
  ['web', ['src']],
  ['lib', ['src', 'web']],
  ['inbox', ['lib', 'src', 'web']],
  ['local', ['lib', 'src', 'web']],
  ['deploy', ['lib', 'src', 'web']],
  ['scripts', ['lib', 'src']],
  ['bench', ['lib', 'local', 'src']],
])('%s loads modules dynamically of itself and of %j only', (room, others) => {
  const targets = listFiles(`${room}/**/*.ts`).flatMap((file) =>
    [...readText(file).matchAll(/(?:\bimport\(|new URL\()\s*['"`](\.[^'"`]*)/g)].map(
      ([, path = '']) => join(dirname(file), path),
    ),
  );
  const rooms = targets.map((target) => target.split('/', 1)[0]);
  expect(rooms.filter((one = '') => ![room, ...others].includes(one))).toEqual([]);
});
