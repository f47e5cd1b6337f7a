/** Plans of a stage: how one is made, what it changes, and which are never applied. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readIfThere, UsageError } from '../lib/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import type { Stage } from '../lib/stages.ts';
import { findBackendFile } from './account.ts';
import { parseOutputs } from './outputs.ts';
import { terraform, type Session } from './steps.ts';
import { programOf, providerSource } from './terraform.ts';

type Values = Readonly<Partial<Record<string, unknown>>>;

interface Change {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  readonly action_reason?: string;
  readonly change: {
    readonly actions: readonly string[];
    readonly before?: Values | null;
    readonly after?: Values | null;
    readonly importing?: object;
  };
}

interface Shown {
  readonly resource_changes?: readonly Change[];
  readonly resource_drift?: readonly Change[];
  readonly output_changes?: Readonly<
    Record<string, { readonly actions: readonly string[]; readonly after?: object | null }>
  >;
}

export type Plan = Awaited<ReturnType<typeof readPlan>>;

/** Resources that a deployment never deletes, since users' data would be lost. */
const UNDELETABLE: Readonly<Record<string, string>> = {
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

/**
 * Writes a plan to a file, and reads it.
 *
 * @param args - Further ones of `terraform plan`.
 */
export async function makePlan(session: Session, file: string, ...args: readonly string[]) {
  const printed = await terraform(session, ['plan', '-no-color', ...args, `-out=${file}`]);
  const progress = /^.*: (Refreshing state|Reading|Still reading|Read complete).*\n/gm;
  return {
    /** The diff as Terraform prints it. */
    text: printed.replaceAll(progress, '').trim(),
    ...(await readPlan(session, file)),
  };
}

const isChange = ({ actions }: { readonly actions: readonly string[] }): boolean =>
  !actions.every((action) => ['no-op', 'read'].includes(action));

/** Reads what a plan changes. */
export async function readPlan(session: Session, file: string) {
  const shown = JSON.parse(await terraform(session, ['show', '-json', file])) as Shown;
  const resources = shown.resource_changes ?? [];
  const changes = resources.filter(
    ({ change }) => isChange(change) || change.importing !== undefined,
  );
  /** The values of resources of a type; those of before the plan where it does not know them yet. */
  const list = (type: string): Values[] =>
    resources
      .filter((each) => each.type === type && each.change.after)
      .map(({ change: { before, after } }) => Object.assign({}, before, after));
  return {
    /** The changed resources. */
    changes,
    /** Undeletable resources that the state has, but not AWS. */
    lost: (shown.resource_drift ?? []).filter(
      ({ type, change }) => type in UNDELETABLE && change.actions.includes('delete'),
    ),
    /** Also if only outputs change. */
    hasChanges: changes.length > 0 || Object.values(shown.output_changes ?? {}).some(isChange),
    /** The functions that an alias makes live. */
    functions: list('aws_lambda_alias').map(({ function_name: name }) => String(name)),
    packages: list('aws_lambda_function'),
    subscriptions: list('aws_sns_topic_subscription'),
    alarms: list('aws_cloudwatch_metric_alarm'),
    /** The form's config.json, without what is not known before the plan is applied; undefined without a form. */
    formConfig: shown.output_changes?.['form_config']?.after ?? undefined,
  };
}

/** The outputs of the module. */
export async function readOutputs<Outputs>(session: Session): Promise<Outputs> {
  const outputs = await terraform(session, ['output', '-json']);
  return parseOutputs(JSON.parse(outputs) as Record<string, { value: unknown }>) as Outputs;
}

export const hashOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('base64');

/** @throws UsageError if the packages in dist/ are not those of the plan, which was made elsewhere. */
export function refuseOtherPackages({ packages }: Plan): void {
  for (const { filename, source_code_hash: hash } of packages) {
    const file = join(MODULE, String(filename));
    if (hashOf(file) !== hash) {
      throw new UsageError(
        `${relative(ROOT, file)} is not the package of the plan: deploy the commit that it was made from.`,
      );
    }
  }
}

/** @throws UsageError if the plan deletes what is never deleted, or makes it a second time. */
export function refuseLoss({ changes, lost }: Plan, { io }: Session, place: string): void {
  const program = `${programOf(io.env)} -chdir=infra/terraform`;
  const [missing] = lost;
  if (missing !== undefined) {
    const { address, type, change } = missing;
    const { arn = 'of this stage' } = change.before as { arn?: string };
    throw new UsageError(
      `The state has ${UNDELETABLE[type]}, ${arn}, but it is not in ${place}. Nothing was changed. If AWS_REGION is wrong, correct it. If it was deleted, restore it (docs/runbook.md, "Restore the table"); to begin without its data: ${program} state rm '${address}'`,
    );
  }
  const deleted = changes.filter(
    ({ type, change }) => type in UNDELETABLE && change.actions.includes('delete'),
  );
  if (deleted.length === 0) return;
  const names = [...new Set(deleted.map(({ type }) => UNDELETABLE[type]))].join(' and ');
  const hints = deleted
    .filter((change) => change.action_reason === 'replace_because_tainted')
    .map(
      ({ address }) => ` Its creation was interrupted; to keep it: ${program} untaint '${address}'`,
    );
  throw new UsageError(
    `The plan deletes ${names}, which this command never does. Nothing was changed.${hints.join('')}`,
  );
}

/** @throws UsageError if an earlier apply has left a state in the folder that is newer than the one in the bucket. */
export function refuseUnsavedState(module: string, env: NodeJS.ProcessEnv): void {
  const state = readIfThere(join(module, 'errored.tfstate'));
  if (state === undefined) return;
  const folder = relative(ROOT, module);
  const [, stage] = (module === MODULE && /"stage": ?"(develop|main|release)"/.exec(state)) || [];
  const workspace = stage === undefined ? '' : `TF_WORKSPACE=${stage} `;
  throw new UsageError(
    `${folder}/errored.tfstate is ${stage === undefined ? 'a state' : `the state of ${stage}`} that Terraform could not save; without it, Terraform would make everything in it again. Nothing was changed. Save it, and run this command again: ${workspace}${programOf(env)} -chdir=${folder} state push errored.tfstate && rm ${folder}/errored.tfstate`,
  );
}
