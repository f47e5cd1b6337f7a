/** Files that are sent on with an answer or a follow-up. docs/adr/0085 */
import { escapeText, toOneLine } from '../../text/visible.ts';
import type { MailFile } from '../send-mail.ts';
import type { ReceivedFile } from './parse-mail.ts';

/** Bytes of all files of a mail. SES counts a third more, and Gmail takes 25 MB. */
const MOST = 7 * 1024 * 1024;
const NAME_LIMIT = 100;
/** Quoted-printable has at most three bytes for one. A file that is larger even so is not decoded. */
const ENCODED = 3;

const OFFICE = 'application/vnd.openxmlformats-officedocument';
/** Types by the end of the name. Programs, scripts, macros and archives are missing. */
const TYPES = new Map([
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['txt', 'text/plain'],
  ['csv', 'text/csv'],
  ['docx', `${OFFICE}.wordprocessingml.document`],
  ['xlsx', `${OFFICE}.spreadsheetml.sheet`],
  ['pptx', `${OFFICE}.presentationml.presentation`],
  ['odt', 'application/vnd.oasis.opendocument.text'],
  ['ods', 'application/vnd.oasis.opendocument.spreadsheet'],
]);
const UNKNOWN = 'application/octet-stream';

function findType({ name, type }: ReceivedFile): string | undefined {
  const [, end = ''] = /\.([a-z]+)$/.exec(name.toLowerCase()) ?? [];
  const expected = TYPES.get(end);
  return type === expected || type === UNKNOWN ? expected : undefined;
}

/** Removes the path, and shows invisible characters, of which one could turn `fdp.exe` round. */
const toName = ({ name }: ReceivedFile): string =>
  toOneLine(name.split(/[/\\:]/).at(-1) ?? '', NAME_LIMIT, escapeText);

/** @returns The files to send, and as `refused` the names of the others. */
export function selectFiles(received: ReceivedFile[], isOn: boolean) {
  const files: MailFile[] = [];
  const refused: string[] = [];
  let left = MOST;
  for (const file of received) {
    const name = toName(file);
    const isKnown = isOn && file.size <= ENCODED * left;
    const type = isKnown ? findType({ ...file, name }) : undefined;
    const data = type === undefined ? undefined : file.read();
    if (type === undefined || data === undefined || data.length === 0 || data.length > left) {
      refused.push(name);
    } else {
      files.push({ name, type, data });
      left -= data.length;
    }
  }
  return { files, refused };
}
