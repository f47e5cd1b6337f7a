/** Settings of editors in users' texts: in the file that `npm run inbox -- reply` opens, no editor reads them. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { toDraft } from '../../inbox/reply.ts';
import { createFolder } from '../helpers/data-folder.ts';
import { INQUIRY } from '../helpers/events.ts';
import { createTally, select } from '../helpers/tally.ts';

/** In each setting, and nowhere else. */
const MARK = '13';
// oxfmt-ignore
const SETTINGS = [
  `vim: set tabstop=${MARK}:`, `vi:set tabstop=${MARK}:`, ` ex: tabstop=${MARK}`,
  `vim>700: set tabstop=${MARK}:`, `kate: tab-width ${MARK};`, `:tabSize=${MARK}:`,
  `-*- tab-width: ${MARK} -*-`, `Local Variables:\ntab-width: ${MARK}\nEnd:`,
  `\f\nlocal variables:\neval: (setq tab-width ${MARK})\nEnd:`,
  `\u000bLocal Variables: #\n> tab-width: ${MARK} #\n> End: #`,
];
const DRAFTS = SETTINGS.flatMap((setting) => [
  toDraft({ ...INQUIRY, email: setting }),
  toDraft({ ...INQUIRY, subject: setting }),
  toDraft({ ...INQUIRY, email: setting, subject: setting, body: setting }),
  ...[1, 3, 8, 30, 500].flatMap((lines) => {
    const fill = 'a line\n'.repeat(lines);
    return [
      `${setting}\n${fill}`,
      `${fill}${setting}`,
      `${fill}${setting}${'\n'.repeat(lines)}`,
    ].map((body) => toDraft({ ...INQUIRY, body }));
  }),
]);

const atEnds = (lines: number) => (file: string) => {
  const all = file.split('\n');
  return [...all.slice(0, lines), ...all.slice(-lines)].join('\n');
};

const tally = createTally('7d settings of editors in drafts: without effect');

/** The part of a file in which an editor looks for settings. */
it.each<[string, (file: string) => string]>([
  // Emacs manual, "Specifying File Variables" and hack-local-variables in files.el.
  ['emacs', (file) => file.slice(Math.max(file.length - 3_000, file.lastIndexOf('\n\f')))],
  // :help modeline. The first line is where Emacs looks, too.
  ['vim', atEnds(5)],
  // Kate handbook, "Configuring with document variables"; jEdit user's guide, "Buffer-local properties"; gedit's plugin.
  ['kate, jedit and gedit', atEnds(10)],
])('are not where %s looks for them', (_, read) => {
  for (const draft of DRAFTS) {
    expect(draft).toContain(MARK);
    expect(read(draft)).not.toContain(MARK);
    tally();
  }
});

const hasVim = spawnSync('vim', ['--version']).stdout?.includes('+eval') ?? false;
if (!hasVim) {
  process.stdout.write('\nSKIPPED: drafts in vim, because there is no vim with +eval.\n');
}
const folder = createFolder(afterAll);

it.skipIf(!hasVim)('have no effect in vim, in however many lines it looks for them', () => {
  const [file, result] = [join(folder, 'reply.txt'), join(folder, 'tabstop')];
  const readTabstop = (text: string, modelines: number): string => {
    writeFileSync(file, text);
    const set = `set modeline modelines=${modelines} nomore`;
    const write = `call writefile([&tabstop], '${result}')`;
    const isolated = ['-Nu', 'NONE', '-i', 'NONE', '-es'];
    spawnSync('vim', [...isolated, '--cmd', set, '-c', write, '-c', 'qa!', file]);
    return readFileSync(result, 'utf8').trim();
  };
  // It does read them.
  expect(readTabstop(SETTINGS[0] ?? '', 5)).toBe(MARK);
  for (const modelines of [5, 12, 30, 10_000]) {
    for (const draft of select(DRAFTS, 20)) {
      expect(readTabstop(draft, modelines)).toBe('8');
      tally();
    }
  }
});
