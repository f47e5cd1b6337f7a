/** The last version that passed its smoke test, and the way back to it. docs/adr/0025 */
import { ResourceNotFoundException } from '@aws-sdk/client-lambda';
import { ACCOUNT, describeFailure } from '../lib/aws/aws.ts';
import type { Stage } from '../lib/aws/stages.ts';
import { UsageError } from '../lib/terminal/command-line.ts';
import { repeat } from './checks/run-checks.ts';
import { testStage } from './checks/stage.ts';
import { readUploadedForm, serveForm, type Form } from './form.ts';
import { readOutputs, type StageOutputs } from './stage.ts';
import type { Session } from './steps.ts';
import {
  describeWithdrawal,
  LIVE,
  NONE,
  readLive,
  readVersion,
  updateLive,
  type Live,
} from './versions.ts';

const PATIENCE_SECONDS = 30;

/** Another command has made another version live, which that command tests. */
export class Overtaken extends Error {}

/** The alias; undefined if there is none, or no version of it has passed its checks. */
async function findLive(name: string): Promise<Live | undefined> {
  const live = await readLive(name).catch((error: unknown) => {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  });
  return live?.version === NONE ? undefined : live;
}

/** The version to which to go back: without one that has passed, the one that is live. */
export async function readLastPassed(name: string): Promise<string | undefined> {
  const live = await findLive(name);
  return live?.passed ?? live?.version;
}

/** The version that an earlier command made live and did not test to the end, if there is one before it. */
export async function findUntested(name: string): Promise<Live | undefined> {
  const live = await findLive(name);
  return live?.passed === undefined || live.passed === live.version ? undefined : live;
}

interface Switched {
  site?: StageOutputs['site'];
  function: Pick<StageOutputs['function'], 'name'>;
}

const isTransient = (error: unknown): boolean => !(error instanceof UsageError);

async function switchBack(
  { site, function: { name } }: Switched,
  live: Live,
  before: string,
): Promise<void> {
  const changes = { version: before, withdrawn: describeWithdrawal(live.version) };
  // An interruption does not stop the way back.
  const { signal } = new AbortController();
  await repeat(() => updateLive(name, live, changes), PATIENCE_SECONDS, signal, isTransient);
  if (site) await serveForm(site, name);
}

/** @throws {@link Overtaken} */
export async function refuseSwitched(name: string, version: string): Promise<Live> {
  const live = await readLive(name);
  if (live.version === version) return live;
  throw new Overtaken(
    `Another command has made version ${live.version} of ${name} live since this one made ${version} live.`,
  );
}

interface Tested {
  version: string;
  /** The checks that it fails and the version before does not. */
  worse: string[];
  /** The checks that the version before fails as well. */
  failing: string[];
}

/**
 * Tests the live version. Only what the version before passes at the same moment speaks against it: then that one is
 * live again, with its form.
 *
 * @param form - What should be served; undefined: any that runs.
 * @param before - The version before, if any.
 */
export async function testLive(
  session: Session,
  outputs: StageOutputs,
  form: Form | undefined,
  before: string | undefined,
): Promise<Tested> {
  const { name } = outputs.function;
  session.step = 'the smoke test';
  const { version } = await readLive(name);
  const failed = await testStage(outputs, form, session);
  const live = await refuseSwitched(name, version);
  if (failed.length === 0) {
    if (live.passed !== version) await updateLive(name, live, { passed: version });
    return { version, worse: [], failing: [] };
  }
  if (before === undefined || before === version) return { version, worse: failed, failing: [] };
  return compare(session, outputs, live, before, failed);
}

async function compare(
  session: Session,
  outputs: StageOutputs,
  live: Live,
  before: string,
  failed: string[],
): Promise<Tested> {
  const { site, function: own } = outputs;
  const { version, withdrawn } = live;
  session.io.stdout.write(`\nThe same with version ${before}, for a comparison:\n`);
  await switchBack(outputs, live, before);
  const form = site ? await readUploadedForm(site, before) : undefined;
  const failing = await testStage(outputs, form, session);
  const worse = failed.filter((title) => !failing.includes(title));
  const both = failed.filter((title) => failing.includes(title));
  if (worse.length === 0) {
    const now = await refuseSwitched(own.name, before);
    await updateLive(own.name, now, { version, passed: version, withdrawn });
    if (site) await serveForm(site, own.name);
  }
  return { version, worse, failing: both };
}

/**
 * Goes back from a version that this command made live and did not test to the end.
 *
 * @param name - The function's; undefined if there is none.
 * @param hash - Of the package that this command made live.
 * @returns What is true then, after a space. Never rejects.
 */
export async function describeWayBack(
  stage: Stage,
  name: string | undefined,
  hash: string,
  before: string | undefined,
): Promise<string> {
  if (name === undefined || before === undefined) return '';
  try {
    const live = await readLive(name);
    const isTested = [before, live.passed, NONE].includes(live.version);
    const { hash: found } = await readVersion(name, LIVE);
    // Otherwise another command has switched the alias.
    if (isTested || found !== hash) return '';
    const { site } = await readOutputs(stage).catch((): Partial<StageOutputs> => ({}));
    await switchBack({ site, function: { name } }, live, before);
    return ` Version ${live.version} was withdrawn, since it was not tested to the end.`;
  } catch (error) {
    const { message } = describeFailure(error, ACCOUNT) as Error;
    return ` Version ${before} could not be made live again (${message}); to try it again: npm run rollback -- ${stage} ${before}.`;
  }
}
