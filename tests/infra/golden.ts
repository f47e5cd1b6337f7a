import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { STAGES } from '../../lib/aws/stages.ts';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';
import type { Json } from './planned-module.ts';

const FOLDER = 'tests/infra/golden';
export const toFile = (name: string): string => join(ROOT, FOLDER, `${name}.yaml`);

/** The files, and the plan to which each is the difference. */
export const BASES = {
  bootstrap: undefined,
  'bootstrap-stages': 'bootstrap',
  develop: undefined,
  'every-setting': 'develop',
  'other-issuer': 'every-setting',
  release: 'every-setting',
} as const;
export type GoldenName = keyof typeof BASES;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a literal has no others
export const FILES = Object.keys(BASES) as GoldenName[];

/** What plans.provider.test.ts compares with Terraform's plan; in place of texts of JSON stands what they say. */
export interface Golden {
  /** By address. */
  resources: Record<string, Json>;
  outputs: Record<string, Json>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const areRows = (value: unknown): value is object[] =>
  Array.isArray(value) && value.every((each) => Object(each) === each);

/**
 * A merge patch (RFC 7396), with the keys sorted; undefined without a difference. Lists of as many objects are compared
 * one by one, under their numbers.
 */
export function toPatch(from: unknown, to: unknown): unknown {
  if (areRows(from) && areRows(to) && from.length === to.length) {
    return toPatch(Object.assign({}, from), Object.assign({}, to));
  }
  if (!isObject(to)) return JSON.stringify(from) === JSON.stringify(to) ? undefined : to;
  const before = isObject(from) ? from : {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(to)])].toSorted();
  const entries = names
    .map((name) => [name, name in to ? toPatch(before[name], to[name]) : null] as const)
    .filter(([, value]) => value !== undefined);
  return entries.length > 0 || !isObject(from) ? Object.fromEntries(entries) : undefined;
}

function applyPatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const before = Object(target);
  const changed = Object.entries(patch)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, applyPatch(before[name], value)]);
  const kept = Object.entries(before).filter(([name]) => !(name in patch));
  const patched = Object.fromEntries([...kept, ...changed]);
  return Array.isArray(target) ? Object.values(patched) : patched;
}

/** The part of a plan that is written: bootstrap's resources of main and release are left out. */
export function toWritten(name: GoldenName, { resources, ...rest }: Golden): Golden {
  const entries = Object.entries(resources).filter(
    ([address]) => name !== 'bootstrap' || !/\["(main|release)\b/.test(address),
  );
  return { ...rest, resources: Object.fromEntries(entries) };
}

/** The plan with which another is compared: for bootstrap's stages, each has the resources of develop under its name. */
export function toBase(name: GoldenName, base: Golden): Golden {
  if (name !== 'bootstrap-stages') return base;
  const own = JSON.stringify(base.resources);
  const all = STAGES.map((stage): object => JSON.parse(own.replaceAll('develop', stage)));
  return { ...base, resources: Object.assign({}, ...all) };
}

export const toYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

export function readGolden(name: GoldenName): Golden {
  const base = BASES[name];
  const patch: unknown = parse(readText(`${FOLDER}/${name}.yaml`));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- plans.provider.test.ts writes it
  return applyPatch(base && toBase(name, readGolden(base)), patch) as Golden;
}

/** The values of a type's resources, by what follows the type in their addresses. */
export const ofType = ({ resources }: Golden, type: string): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(resources).flatMap(([address, values]) => {
      const [module = '', name] = address.split(`${type}.`);
      return name === undefined || module.endsWith('data.') ? [] : [[`${module}${name}`, values]];
    }),
  );
