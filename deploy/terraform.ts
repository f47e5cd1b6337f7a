import { parseObject } from '../lib/terminal/command-line.ts';
import { run } from '../lib/terminal/run.ts';

/** `TERRAFORM=tofu` runs OpenTofu. */
export const programOf = (env: NodeJS.ProcessEnv): string => env['TERRAFORM'] || 'terraform';

/** Variables with which Terraform asks nothing. */
export const terraformEnv = (
  more: NodeJS.ProcessEnv = {},
  inherited: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv => ({ ...inherited, TF_IN_AUTOMATION: '1', TF_INPUT: '0', ...more });

/** Options of `terraform init`: the providers' folder in TF_PLUGIN_DIR, by default Terraform's own source. */
export function providerSource(env: NodeJS.ProcessEnv = process.env): string[] {
  const folder = env['TF_PLUGIN_DIR'];
  return folder ? [`-plugin-dir=${folder}`] : [];
}

/** As in `required_version` (versions.tf), which Terraform reads too late: a command builds and creates before. */
const OLDEST = '1.11';

/** @returns Undefined if there is a Terraform that is new enough. */
export async function terraformUnavailableReason(
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const program = programOf(env);
  const { code, stdout } = await run(program, ['version', '-json'], { env });
  if (code !== 0) return `${program} is not on the PATH; version ${OLDEST} or later is needed.`;
  const version = String(parseObject(stdout)?.['terraform_version']);
  const isNew = version.localeCompare(OLDEST, 'en', { numeric: true }) >= 0;
  return isNew ? undefined : `${program} is ${version}; version ${OLDEST} or later is needed.`;
}
