/** Plans of a stage: how one is made, what it changes, and which are never applied. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import type { Stage } from '../lib/stages.ts';
import { findBackendFile } from './account.ts';
import { terraform } from './steps.ts';
import type { Session } from './steps.ts';
import { programOf, providerSource, run, terraformEnv } from './terraform.ts';

interface Change {
  readonly address: string;
  readonly type: string;
  readonly action_reason?: string;
  readonly change: {
    readonly actions: readonly string[];
  };
}

export interface Plan {
  readonly file: string;
  /** The changed resources. */
  readonly changes: readonly Change[];
  /** Also if only outputs change. */
  readonly hasChanges: boolean;
  /** The form's config.json, without what is not known before the plan is applied; undefined without a form. */
  readonly formConfig: object | undefined;
  /** The diff as Terraform prints it. */
  readonly text: string;
  /** Of the diff: the same for every plan with the same diff. */
  readonly sha256: string;
}

/** Resources that a deployment never deletes, since users' data would be lost. */
const KEPT: Readonly<Record<string, string>> = {
  aws_dynamodb_table: 'the table with its inquiries',
  aws_cognito_user_pool: 'the user pool with its users',
};

/** Selects the stage's workspace, and creates it the first time. */
export async function initialise(session: Session, stage: Stage): Promise<void> {
  // The last selected workspace may not exist in this stage's backend, which would make init fail.
  rmSync(join(MODULE, '.terraform/environment'), { force: true });
  const file = findBackendFile(stage);
  const backend = file === undefined ? [] : [`-backend-config=${file}`];
  const source = providerSource(session.io.env);
  await terraform(session, ['init', '-no-color', '-reconfigure', ...backend, ...source]);
  await terraform(session, ['workspace', 'select', '-or-create', stage]);
}

const isChange = ({ actions }: { readonly actions: readonly string[] }): boolean =>
  !actions.every((action) => ['no-op', 'read'].includes(action));

/**
 * Writes a plan to a file and reads what it changes.
 *
 * @param args - Further ones of `terraform plan`.
 */
export async function makePlan(session: Session, file: string, ...args: readonly string[]): Promise<Plan> {
  await terraform(session, ['plan', '-no-color', ...args, `-out=${file}`]);
  const shown = JSON.parse(await terraform(session, ['show', '-json', file])) as {
    resource_changes?: (Change & { change: { importing?: object } })[];
    output_changes?: Record<string, { actions: string[]; after?: object | null }>;
  };
  const changes = (shown.resource_changes ?? []).filter(
    ({ change }) => isChange(change) || change.importing !== undefined,
  );
  const hasChanges = changes.length > 0 || Object.values(shown.output_changes ?? {}).some(isChange);
  const text = (await terraform(session, ['show', '-no-color', file]))
    // What the symbols mean: the same every time.
    .replace(/^(?:Terraform|OpenTofu) used the selected providers[^:]*symbols:\n(?:.+\n)+/m, '')
    .trim();
  const formConfig = shown.output_changes?.['form_config']?.after ?? undefined;
  return {
    file,
    changes,
    hasChanges,
    formConfig,
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
  };
}

/** The outputs of the module. */
export async function readOutputs<Outputs>(session: Session): Promise<Outputs> {
  const outputs = JSON.parse(await terraform(session, ['output', '-json'])) as Record<
    string,
    { value: unknown }
  >;
  const values = Object.entries(outputs).map(([name, { value }]) => [name, value]);
  return Object.fromEntries(values) as Outputs;
}

/** @throws UsageError if the plan deletes what is never deleted. */
export function refuseLoss({ changes }: Plan, { io }: Session): void {
  const lost = changes.filter(({ type, change }) => type in KEPT && change.actions.includes('delete'));
  if (lost.length === 0) return;
  const names = [...new Set(lost.map(({ type }) => KEPT[type]))].join(' and ');
  const hints = lost
    .filter((change) => change.action_reason === 'replace_because_tainted')
    .map(
      ({ address }) =>
        ` Its creation was interrupted; to keep it: ${programOf(io.env)} -chdir=infra/terraform untaint '${address}'`,
    );
  throw new UsageError(
    `The plan deletes ${names}, which this command never does. Nothing was changed.${hints.join('')}`,
  );
}

/**
 * Keeps tables and user pools whose creation was interrupted. Terraform marks such a resource as tainted, plans to replace
 * it, and that plan would never be applied; without the mark, the next plan completes it.
 */
export async function keepInterrupted({ io: { env }, module }: Session): Promise<void> {
  // Not a step: this runs after an interruption, and must not end at a further one.
  const options = {
    cwd: module,
    env: terraformEnv({ TF_WORKSPACE: undefined }, env),
    interruption: new AbortController().signal,
  };
  const { code, stdout } = await run(programOf(env), ['show', '-json'], options);
  if (code !== 0) return;
  const { values } = JSON.parse(stdout) as {
    values?: { root_module?: { resources?: { address: string; type: string; tainted?: boolean }[] } };
  };
  for (const { address, type, tainted } of values?.root_module?.resources ?? []) {
    if (tainted === true && type in KEPT) await run(programOf(env), ['untaint', address], options);
  }
}
