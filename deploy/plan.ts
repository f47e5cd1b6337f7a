/** Makes and reads the plans of a stage, and refuses those that are never applied. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readIfThere, UsageError } from '../lib/terminal/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import type { Stage } from '../lib/aws/stages.ts';
import { terraform, type Session } from './steps.ts';
import { providerSource } from './terraform.ts';

type Values = Partial<Record<string, unknown>>;

interface Change {
  address: string;
  type: string;
  change: {
    actions: string[];
    before?: Values | null;
    after?: Values | null;
    importing?: object;
  };
}

interface Shown {
  variables?: { stages?: { value: Partial<Record<string, Values>> } };
  resource_changes?: Change[];
  resource_drift?: Change[];
  output_changes?: Record<string, Change['change']>;
}

export type Plan = Awaited<ReturnType<typeof readPlan>>;

/** Types that no deployment deletes, since they hold the inquiries and the users. */
const UNDELETABLE = /^aws_(dynamodb_table|cognito_user_pool)$/;

/** @param backend - A file that says where the state is. */
export const initialise = (session: Session, backend: string) =>
  terraform(session, [
    'init',
    '-no-color',
    '-reconfigure',
    `-backend-config=${backend}`,
    ...providerSource(session.io.env),
  ]);

/**
 * Writes a plan to a file, and reads it.
 *
 * @param args - For `terraform plan`.
 */
export async function makePlan(session: Session, file: string, ...args: string[]) {
  const printed = await terraform(session, ['plan', '-no-color', ...args, `-out=${file}`]);
  const progress = /^.*: (Refreshing state|Reading|Still reading|Read complete).*\n/gm;
  session.io.stdout.write(`\n${printed.replaceAll(progress, '').trim()}\n\n`);
  return readPlan(session, file);
}

const isChange = ({ actions, importing }: Change['change']): boolean =>
  importing !== undefined || !actions.every((action) => ['no-op', 'read'].includes(action));
const isLoss = ({ type, change }: Change): boolean =>
  UNDELETABLE.test(type) && change.actions.includes('delete');

/** @throws UsageError if the plan deletes what is never deleted, or makes it a second time. */
export async function readPlan(session: Session, file: string) {
  const {
    variables: { stages } = {},
    resource_changes: resources = [],
    resource_drift: drift = [],
    output_changes: outputs = {},
  } = JSON.parse(await terraform(session, ['show', '-json', file])) as Shown;
  const changes = resources.filter(({ change }) => isChange(change));
  for (const { address } of changes.filter(isLoss)) {
    throw new UsageError(
      `The plan deletes ${address}, which this command never does. If its creation was interrupted: terraform untaint '${address}'`,
    );
  }
  // Drift has what is in the state, and no longer in AWS.
  for (const { address, change } of drift.filter(isLoss)) {
    throw new UsageError(
      `The state has ${address}, ${String(change.before?.['arn'])}, but it is not in this account and region. Restore it (docs/runbook.md, "Restore the table"); to begin without its data: terraform state rm '${address}'`,
    );
  }
  /** Values of a type's resources; those before the plan if it does not know them yet. */
  const list = (type: string): Values[] =>
    resources
      .filter((each) => each.type === type && each.change.after)
      .map(({ change: { before, after } }) => Object.assign({}, before, after));
  return {
    changes,
    hasChanges: changes.length > 0 || Object.values(outputs).some(isChange),
    functions: list('aws_lambda_alias').map(({ function_name: name }) => String(name)),
    functionName: resources
      .filter(({ address }) => address === 'module.function.aws_lambda_alias.live')
      .map(({ change: { before, after } }) => (after ?? before)?.['function_name'])
      .find((name) => typeof name === 'string'),
    packages: list('aws_lambda_function'),
    settings: stages?.value ?? {},
    /** Undefined without a form; lacks what only the apply knows. */
    formConfig: outputs['form_config']?.after,
  };
}

/** @throws UsageError if a release leaves open what the law asks for (docs/privacy.md). */
export function refuseUnstated({ settings, formConfig }: Plan, stage: Stage): void {
  if (stage !== 'release') return;
  if (!('retention_days' in (settings[stage] ?? {}))) {
    throw new UsageError(
      'release does not state retention_days: set it to the days after which an inquiry is deleted, or to null to keep inquiries until somebody deletes them (docs/privacy.md).',
    );
  }
  if (formConfig && !formConfig['privacy']) {
    throw new UsageError(
      'release has a form without form.privacy, the address of the privacy notice (GDPR, article 13).',
    );
  }
}

/** @throws UsageError if dist/ has other packages than the plan, which was made elsewhere. */
export function refuseOtherPackages({ packages }: Plan): void {
  for (const { filename, source_code_hash: hash } of packages) {
    const file = join(MODULE, String(filename));
    if (createHash('sha256').update(readFileSync(file)).digest('base64') !== hash) {
      throw new UsageError(`${relative(ROOT, file)} is not the package of the plan.`);
    }
  }
}

/** @throws UsageError if an earlier apply has left a state in the folder, with the command that saves it. */
export function refuseUnsavedState(module: string): void {
  const state = readIfThere(join(module, 'errored.tfstate'));
  if (state === undefined) return;
  const folder = relative(ROOT, module);
  // The stage is in the tags of its resources; those of bootstrap have none.
  const [, stage] = /"stage": *"(\w+)"/.exec(state) ?? [];
  const where = stage && `TF_WORKSPACE=${stage} TF_DATA_DIR=.terraform/${stage} `;
  throw new UsageError(
    `${folder}/errored.tfstate is the state of ${stage ?? 'the account'}, which Terraform could not save. Save it, and remove the file: ${where ?? ''}terraform -chdir=${folder} state push errored.tfstate`,
  );
}
