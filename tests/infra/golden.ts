import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';
import type { Json } from './planned-module.ts';

const FOLDER = 'tests/infra/golden';
export const toFile = (name: string): string => join(ROOT, FOLDER, `${name}.json`);
export const FILES: readonly string[] = globSync('*.json', { cwd: join(ROOT, FOLDER) }).map(
  (file) => basename(file, '.json'),
);

/** What plans.provider.test.ts compares with Terraform's plan; in place of texts of JSON stands what they say. */
interface Golden {
  /** By address. */
  resources: Record<string, Json>;
  outputs: Record<string, Json>;
}
export const readGolden = (name: string): Golden => JSON.parse(readText(`${FOLDER}/${name}.json`));

/** The values of a type's resources, by what follows the type in their addresses. */
export const ofType = ({ resources }: Golden, type: string): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(resources).flatMap(([address, values]) => {
      const [module = '', name] = address.split(`${type}.`);
      return name === undefined || module.endsWith('data.') ? [] : [[`${module}${name}`, values]];
    }),
  );
