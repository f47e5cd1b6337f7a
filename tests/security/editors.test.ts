/** No editor reads settings in users' texts from the file that `npm run inbox -- reply` opens. */
import { expect, it } from 'vitest';
import { toDraft } from '../../inbox/reply.ts';
import { INQUIRY } from '../helpers/events.ts';

/** 13 is in each and nowhere else. */
// oxfmt-ignore
const SETTINGS = [
  `vim: set tabstop=13:`, `vi:set tabstop=13:`, ` ex: tabstop=13`,
  `vim>700: set tabstop=13:`, `kate: tab-width 13;`, `:tabSize=13:`,
  `-*- tab-width: 13 -*-`, `Local Variables:\ntab-width: 13\nEnd:`,
  `\f\nlocal variables:\neval: (setq tab-width 13)\nEnd:`,
  `\u000bLocal Variables: #\n> tab-width: 13 #\n> End: #`,
];
const placesOf = (setting: string) => [
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
];

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
  for (const texts of SETTINGS.flatMap(placesOf)) {
    const draft = toDraft({ ...INQUIRY, ...texts });
    expect(draft).toContain('13');
    expect(read(draft)).not.toContain('13');
  }
});
