import { userInfo } from 'node:os';
import { join } from 'node:path';
import { NETWORK, tableOf } from '../lib/aws/aws.ts';
import { UsageError } from '../lib/terminal/command-line.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { LOCAL, readRunningStack } from '../lib/running-stack.ts';
import { createDeliveries, type Deliveries } from '../src/entities/deliveries.ts';
import { createErasureRecords, type ErasureRecords } from '../src/entities/erasures.ts';
import { createStoredInquiries, type StoredInquiries } from '../src/entities/stored-inquiries.ts';
import { openTable } from '../src/entities/table.ts';

/** `unknown`: the credentials may not look it up, or the table is another one. */
export type MailState = 'sent' | 'none' | 'unknown';

export interface Connection {
  /** `local` or the stage's name, which confirms an erasure. */
  stage: string;
  /** Such as `--stage develop`; empty for the default local stack. */
  options: string;
  table: string;
  inquiries: StoredInquiries;
  deliveries: Deliveries;
  /** docs/adr/0084 */
  erasures: {
    table: string;
    records: ErasureRecords;
    key: { file: string } | { parameter: string };
  };
  /** S3 of the local stack. */
  mailStore?: string | undefined;
  /** The name in the AWS credentials; locally the system's user. */
  respondent: () => Promise<string>;
  mail: () => Promise<MailState>;
}

/** Both or neither: records belong to one service's inquiries. */
export interface Tables {
  table: string | undefined;
  erasures: string | undefined;
}

/** @throws UsageError if the folder's stack is not running. */
export function connectLocally(
  folder: string,
  options: Partial<Tables> & { respondent?: string | undefined } = {},
): Connection {
  const { engine: endpoint, mailbox, mailStore, ...state } = readRunningStack(folder);
  const { table = state.table, erasures = `${state.table}-erasures`, respondent } = options;
  if (respondent?.trim() === '') {
    throw new UsageError('--as is empty; pass the name of who answers.');
  }
  // The page connects for each request; kept connections would pile up.
  const requestHandler = { ...NETWORK.requestHandler, httpAgent: { keepAlive: false } };
  const config = { endpoint, ...LOCAL, requestHandler };
  return {
    stage: 'local',
    options: folder === DATA_FOLDER ? '' : `--data '${folder}'`,
    ...openTables(table, erasures, { file: join(folder, 'erasure-key') }, config),
    mailStore,
    respondent: async () => respondent ?? readUserName(),
    mail: async () => (mailbox === undefined ? 'none' : 'sent'),
  };
}

function openTables(
  name: string,
  erasures: string,
  key: Connection['erasures']['key'],
  config?: Parameters<typeof openTable>[1],
): Pick<Connection, 'table' | 'inquiries' | 'deliveries' | 'erasures'> {
  const table = openTable(name, { ...NETWORK, ...config });
  const records = createErasureRecords({ ...table, name: erasures });
  return {
    table: name,
    inquiries: createStoredInquiries(table),
    deliveries: createDeliveries(table),
    erasures: { table: erasures, records, key },
  };
}

/** A container's user may have no name. */
function readUserName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new UsageError('The user of the operating system has no name; pass --as NAME.', {
      cause: error,
    });
  }
}

export function connectToStage(
  stage: string,
  service?: string,
  tables: Partial<Tables> = {},
): Connection {
  const name = tableOf(stage, service);
  const { table = name, erasures = `${name}-erasures` } = tables;
  return {
    stage,
    options: `--stage ${stage}${service === undefined ? '' : ` --service ${service}`}`,
    ...openTables(table, erasures, { parameter: `/${name}/erasure-key` }),
    respondent: keepResult(async () => {
      // Loaded here, since most commands do not need it.
      const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
      const { Arn = '' } = await new STSClient(NETWORK).send(new GetCallerIdentityCommand());
      // arn:aws:iam::111122223333:user/ana, arn:aws:sts::111122223333:assumed-role/support/ana@example.com,
      // arn:aws:iam::111122223333:root
      return Arn.slice(Math.max(Arn.lastIndexOf('/'), Arn.lastIndexOf(':')) + 1);
    }),
    mail: keepResult(async () => {
      if (table !== name) return 'unknown';
      const { GetFunctionConcurrencyCommand, LambdaClient } =
        await import('@aws-sdk/client-lambda');
      const lookUp = new GetFunctionConcurrencyCommand({ FunctionName: `${name}-mailer` });
      return new LambdaClient(NETWORK).send(lookUp).then(
        () => 'sent',
        (error: Error) => (error.name === 'ResourceNotFoundException' ? 'none' : 'unknown'),
      );
    }),
  };
}

/** The pages ask for each request. A failure is not kept. */
function keepResult<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let kept: Promise<Result> | undefined;
  return async () =>
    (kept ??= read().catch((error: unknown) => {
      kept = undefined;
      throw error;
    }));
}
