/** Copies of the Terraform modules for tests. */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { programOf, providerSource, terraformEnv } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';
import { run } from '../../lib/terminal/run.ts';

const MODULES = ['infra/terraform', 'infra/terraform/bootstrap'];
/**
 * Settings, state and locks of a checkout, and files that tests add: checks take the newest provider that is allowed.
 */
const LOCAL = /\.terraform|\.tfstate|\.tfbackend$|\.tfvars|terraform\/[^/]+_override\.tf$/;
/** Terraform's errors without a source of the provider. */
const NO_PROVIDER = /Failed to (query available provider packages|install provider)/;

const isShared = (file: string): boolean => !LOCAL.test(file);

/** Whether TF_PLUGIN_DIR has provider 5.100, for which the modules are overridden; users get 6.x. */
export const hasOldProvider = ({ TF_PLUGIN_DIR: folder }: NodeJS.ProcessEnv): boolean =>
  !!folder && existsSync(join(folder, 'registry.terraform.io/hashicorp/aws/5.100.0'));

/**
 * Copies the modules and what they read, without this checkout's own files.
 *
 * @param isOld - Whether they take provider 5.100.
 */
export function copySources(copy: string, isOld: boolean): void {
  for (const path of ['infra', 'web/src', 'ui', 'src/maxima.json', 'text/languages.json']) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true, filter: isShared });
  }
  const overrides = isOld ? 'infra/terraform/{,*/}tests/*_override.tf' : [];
  for (const file of globSync(overrides, { cwd: copy })) {
    cpSync(join(copy, file), join(copy, dirname(file), '..', basename(file)));
  }
}

/** @returns A folder with the initialised modules; undefined without a provider. */
export async function copyModules(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const copy = mkdtempSync(join(tmpdir(), 'modules-'));
  const source = providerSource(env);
  copySources(copy, hasOldProvider(env));
  // Terraform reads the build's packages for their hashes.
  mkdirSync(join(copy, 'dist'));
  for (const zip of ['inquiries', 'mailer', 'inbox']) {
    writeFileSync(join(copy, `dist/${zip}.zip`), zip);
  }
  for (const module of MODULES) {
    const cwd = join(copy, module);
    const { output } = await run(
      programOf(env),
      ['init', '-backend=false', '-no-color', ...source],
      {
        cwd,
        env: terraformEnv({ TF_WORKSPACE: 'default' }, env),
      },
    );
    if (!NO_PROVIDER.test(output)) continue;
    rmSync(copy, { recursive: true });
    return undefined;
  }
  return copy;
}
