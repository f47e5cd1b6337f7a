/** No editor reads settings in users' texts from the file that `npm run inbox -- reply` opens. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toDraft } from '../../inbox/reply.ts';
import { createFolder } from '../helpers/data-folder.ts';
import { unless } from '../helpers/needs.ts';
import { INQUIRY } from '../helpers/events.ts';
import { select } from '../helpers/selection.ts';

/** 13 is in each and nowhere else. */
// oxfmt-ignore
const SETTINGS = [
  `vim: set tabstop=13:`, `vi:set tabstop=13:`, ` ex: tabstop=13`,
  `vim>700: set tabstop=13:`, `kate: tab-width 13;`, `:tabSize=13:`,
  `-*- tab-width: 13 -*-`, `Local Variables:\ntab-width: 13\nEnd:`,
  `\f\nlocal variables:\neval: (setq tab-width 13)\nEnd:`,
  `\u000bLocal Variables: #\n> tab-width: 13 #\n> End: #`,
];
const DRAFTS = SETTINGS.flatMap((setting) => [
  { email: setting },
  { subject: setting },
  { email: setting, subject: setting, body: setting },
  ...[1, 3, 8, 30, 500].flatMap((lines) => {
    const fill = 'a line\n'.repeat(lines);
    return [
      { body: `${setting}\n${fill}` },
      { body: `${fill}${setting}` },
      { body: `${fill}${setting}${'\n'.repeat(lines)}` },
    ];
  }),
]).map((texts) => toDraft({ ...INQUIRY, ...texts }));

const atEnds = (lines: number) => (file: string) => {
  const all = file.split('\n');
  return [...all.slice(0, lines), ...all.slice(-lines)].join('\n');
};

/** Where an editor looks for settings. */
it.each<[string, (file: string) => string]>([
  // Emacs manual, "Specifying File Variables" and hack-local-variables in files.el.
  ['emacs', (file) => file.slice(Math.max(file.length - 3_000, file.lastIndexOf('\n\f')))],
  // :help modeline. Emacs looks at the first line, too.
  ['vim', atEnds(5)],
  // Kate handbook, "Configuring with document variables"; jEdit user's guide, "Buffer-local properties"; gedit's plugin.
  ['kate, jedit and gedit', atEnds(10)],
])('are not where %s looks for them', (_, read) => {
  for (const draft of DRAFTS) {
    expect(draft).toContain('13');
    expect(read(draft)).not.toContain('13');
  }
});

const hasVim = spawnSync('vim', ['--version']).status === 0;
const needsVim = unless(hasVim ? undefined : 'drafts in vim need vim');

it('have no effect in vim, in however many lines it looks for them', needsVim, () => {
  const file = join(createFolder(), 'reply.txt');
  const readTabstop = (text: string, modelines: number): string => {
    writeFileSync(file, text);
    const set = `set modeline modelines=${modelines} nomore`;
    const show = ['--cmd', set, '-c', 'set tabstop?', '-c', 'qa!', file];
    return String(spawnSync('vim', ['-Nu', 'NONE', '-i', 'NONE', '-es', ...show]).stdout).trim();
  };
  // It does read them.
  expect(readTabstop(SETTINGS[0] ?? '', 5)).toBe('tabstop=13');
  for (const modelines of [5, 12, 30, 10_000]) {
    for (const draft of select(DRAFTS, 20)) {
      expect(readTabstop(draft, modelines)).toBe('tabstop=8');
    }
  }
});
