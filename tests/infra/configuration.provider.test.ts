/**
 * What no plan's values show: which provider makes a resource, what it waits for, what its provisioners run, and where
 * its values come from. It is in a plan's `configuration`, the same for all settings.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, assert, beforeAll, describe, expect, it } from 'vitest';
import { copyModules } from './module-copy.ts';
import { programOf, providerSource, terraformEnv } from '../../deploy/terraform.ts';
import { run } from '../../lib/terminal/run.ts';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { unless } from '../helpers/needs.ts';
import { toYaml } from './golden.ts';
import { ACCOUNT, REGION, type Json } from './planned-module.ts';

/** Terraform also names what a reference is part of. */
function listReferences(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listReferences);
  if (Object(value) !== value) return [];
  const { references, ...rest } = Object(value);
  const own = (references ?? []) as string[];
  const whole = own.filter((one) => !own.some((other) => other !== one && isPart(one, other)));
  return [...whole, ...Object.values(rest).flatMap(listReferences)];
}
const isPart = (one: string, other: string) =>
  other.startsWith(`${one}.`) || other.startsWith(`${one}[`);
const toText = (...values: unknown[]) =>
  [...new Set(listReferences(values))].join(' ') || undefined;

const map = (values: Json, change: (value: Json) => unknown) =>
  Object.entries(values ?? {}).map(([name, value]) => [name, change(value)] as const);

const isEdge = ({ provider_config_key: provider }: Json): boolean => provider.endsWith('us_east_1');
/** A resource, or the call of a module. */
const describePart = (part: Json) => ({
  source: part.source,
  provider: (part.module?.resources ?? [part]).every(isEdge) ? 'us_east_1' : undefined,
  each: toText(part.count_expression, part.for_each_expression),
  after: part.depends_on?.join(' '),
  of: toText(part.expressions),
  runs: part.provisioners?.map(({ expressions }: Json) =>
    map(expressions, (value) => toText(value) ?? JSON.stringify(value)).map((one) =>
      one.join(': '),
    ),
  ),
});

/** Describes modules by their sources, so that a module that is called twice is described once. */
function listModules(module: Json, source: string): [string, unknown][] {
  const calls = Object.entries<Json>(module.module_calls ?? {});
  const own = Object.fromEntries([
    ...(module.resources ?? []).map((each: Json) => [each.address, describePart(each)]),
    ...calls.map(([name, call]) => [`module.${name}`, describePart(call)]),
  ]);
  const outputs = map(module.outputs, (each) =>
    [toText(each.expression), ...(each.depends_on ?? [])].join(' '),
  );
  return [
    [source, { ...own, outputs: Object.fromEntries(outputs) }],
    ...calls.flatMap(([, call]) => listModules(call.module, call.source.replace(/^\.*\//, ''))),
  ];
}

/** As AWS answers GetCallerIdentity, the only call of a plan without a state. */
const IDENTITY = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::${ACCOUNT}:user/test</Arn><UserId>test</UserId><Account>${ACCOUNT}</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`;

const copy = await copyModules(process.env);

describe('the configuration', unless(copy ? undefined : 'the AWS provider is needed'), () => {
  const sts = createServer((_, response) => response.end(IDENTITY));
  const modules: Record<string, unknown> = {};

  async function readConfiguration(module: string, workspace: string, ...variables: string[]) {
    const cwd = join(copy ?? '', module);
    writeFileSync(join(cwd, 'backend_override.tf'), 'terraform {\n  backend "local" {}\n}\n');
    const main = join(cwd, 'main.tf');
    if (workspace === 'default') {
      writeFileSync(main, readFileSync(main, 'utf8').replace(/^import \{[^]*?^\}\n/m, ''));
    }
    const env = terraformEnv({
      TF_WORKSPACE: workspace,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: REGION,
      AWS_ENDPOINT_URL_STS: await serve(sts, 0),
    });
    const terraform = async (...args: string[]) => {
      const { code, stdout, output } = await run(programOf(env), args, { cwd, env });
      assert(code === 0, output);
      return stdout;
    };
    await terraform('init', '-reconfigure', ...providerSource());
    const named = variables.map((variable) => `-var=${variable}`);
    await terraform('plan', '-lock=false', '-out=plan', ...named);
    const { configuration } = JSON.parse(await terraform('show', '-json', 'plan'));
    await closeServer(sts);
    return configuration;
  }
  beforeAll(async () => {
    const stages = await readConfiguration('infra/terraform', 'develop', 'stages={develop={}}');
    const bootstrap = await readConfiguration(
      'infra/terraform/bootstrap',
      'default',
      'bucket=state-bucket',
    );
    const providers = [stages, bootstrap].map(({ provider_config: all }) =>
      map(all, ({ version_constraint: version, expressions }) => [
        version,
        toText(expressions) ?? JSON.stringify(expressions),
      ]).map((one) => one.flat().filter(Boolean).join(' ')),
    );
    Object.assign(
      modules,
      { providers },
      Object.fromEntries(listModules(stages.root_module, 'stages').toReversed()),
      Object.fromEntries(listModules(bootstrap.root_module, 'bootstrap')),
    );
  });
  afterAll(() => rmSync(copy ?? '', { recursive: true, force: true }));

  it.each('providers stages function mailer team site identity alarms bootstrap'.split(' '))(
    'of %s is as its golden file says; npm run golden accepts a change',
    (name) => {
      expect(toYaml(modules[name])).toMatchSnapshot();
    },
  );
});
