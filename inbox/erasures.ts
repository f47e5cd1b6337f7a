/** A keyed hash of the `sub`, and until when: `KEY_ID#HASH#TIME`. docs/adr/0084 */
import { createHmac, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { GetParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { readIfThere } from '../lib/terminal/command-line.ts';
import { NETWORK } from '../lib/aws/aws.ts';
import type { Connection } from './connect.ts';

const KEY_BYTES = 32;

export const ignore =
  (expected: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.name !== expected && error.code !== expected) throw error;
  };

export async function nameMissingTable<Result>(
  { stage, erasures }: Connection,
  request: Promise<Result>,
): Promise<Result> {
  return request.catch((cause: Error) => {
    if (cause.name !== 'ResourceNotFoundException') throw cause;
    const message = `The table ${erasures.table} does not exist; deploy it with npm run deploy -- ${stage}.`;
    throw new Error(message, { cause });
  });
}

export function openErasures(connection: Connection) {
  const { records, key: place } = connection.erasures;
  const isLocal = 'file' in place;
  const keys = isLocal ? createKeyFile(place.file) : createParameter(place.parameter);

  function parseKey(text = ''): Buffer {
    const key = Buffer.from(text, 'base64');
    if (key.length !== KEY_BYTES) throw new Error(`The erasure key (${keys.name}) is damaged.`);
    return key;
  }

  return {
    /**
     * A user's latest record counts. The first record creates the key.
     *
     * @param erased_at - Inclusive, in the form of `created_at`.
     */
    async record(sub: string, erased_at: string): Promise<void> {
      if (isLocal) await records.create();
      let text = await keys.read();
      if (text === undefined) {
        await keys.create(randomBytes(KEY_BYTES).toString('base64'));
        text = await keys.read();
      }
      const key = parseKey(text);
      const record = [toKeyId(key), toHash(key, sub), erased_at].join('#');
      await nameMissingTable(connection, records.add(record));
    },

    /** Deletes records that are older than a time, in the form of `created_at`. @returns How many. */
    async forget(before: string): Promise<number> {
      const all = await nameMissingTable(connection, records.read());
      const old = all.filter((record) => (record.split('#')[2] ?? '') < before);
      for (const record of old) await records.remove(record);
      return old.length;
    },

    /** @returns `count`: users; `lost`: those whose key is gone; `find`: until when a user is erased. */
    async read() {
      if (isLocal) await records.create();
      const text = await keys.read();
      const key = text === undefined ? undefined : parseKey(text);
      const keyId = key && toKeyId(key);
      const times = new Map<string, string>();
      const lost = new Set<string>();
      for (const record of await nameMissingTable(connection, records.read())) {
        const [id, hash = '', time = ''] = record.split('#');
        if (id !== keyId) lost.add(hash);
        else if (time > (times.get(hash) ?? '')) times.set(hash, time);
      }
      return {
        count: times.size,
        lost: lost.size,
        find: (sub: string) => key && times.get(toHash(key, sub)),
      };
    },
  };
}

const toHash = (key: Buffer, sub: string): string =>
  createHmac('sha256', key).update(sub).digest('hex');

/** No `sub` is this text. */
const toKeyId = (key: Buffer): string => toHash(key, 'key id').slice(0, 16);

/** Base64. `create` keeps an existing key. */
function createParameter(Name: string) {
  const ssm = new SSMClient(NETWORK);
  return {
    name: `the parameter ${Name}`,
    async read(): Promise<string | undefined> {
      const command = new GetParameterCommand({ Name, WithDecryption: true });
      return (await ssm.send(command).catch(ignore('ParameterNotFound')))?.Parameter?.Value;
    },
    async create(Value: string): Promise<unknown> {
      const command = new PutParameterCommand({ Name, Value, Type: 'SecureString' });
      return ssm.send(command).catch(ignore('ParameterAlreadyExists'));
    },
  };
}

const createKeyFile = (file: string): ReturnType<typeof createParameter> => ({
  name: file,
  read: async () => readIfThere(file),
  create: async (key) => writeFile(file, key, { mode: 0o600, flag: 'wx' }).catch(ignore('EEXIST')),
});
