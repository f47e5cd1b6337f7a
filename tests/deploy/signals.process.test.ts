/** `npm run deploy`: real signals at each step, and Ctrl-C at a terminal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeployment, CTRL_C, CTRL_D, hasScript } from '../helpers/deployment.ts';
import type { Change, Deployment } from '../helpers/deployment.ts';

let deployment: Deployment;
beforeEach(async () => {
  deployment = await createDeployment();
});
afterEach(() => deployment.remove());

describe('npm run deploy after a signal', { timeout: 30_000 }, () => {
  const nothing = 'nothing was changed.';
  it.each([
    ['npm run', 'building', nothing],
    ['terraform init', 'planning', nothing],
    ['terraform workspace', 'planning', nothing],
    ['terraform plan', 'planning', nothing],
    ['terraform show', 'planning', nothing],
    ['terraform apply', 'applying', 'Terraform saved what it had changed. Run the same command again.'],
    [
      'terraform output',
      'uploading the form',
      'the plan is applied; the form may be the one from before. Run the same command again.',
    ],
    [
      'smoke.ts --url',
      'testing the stage',
      'everything is deployed, but not tested. Run the same command again.',
    ],
  ])('during %s hands on one SIGINT, waits, and says what is true', async (hanging, phase, state) => {
    deployment.arrange({ hanging });
    const { child, ended } = deployment.start('develop --yes');
    await deployment.awaitCall(`${hanging} waits`);
    child.kill('SIGTERM');
    await deployment.awaitCall(`${hanging} got SIGINT`);
    // Impatient: what ends Terraform without saving its state must not reach it.
    child.kill('SIGINT');
    child.kill('SIGTERM');
    deployment.letEnd();
    const { code, output } = await ended;
    expect([code, deployment.signals()]).toEqual([143, [`${hanging} got SIGINT`]]);
    expect(output).toContain('\nSIGTERM: waiting for the current step to end …\n');
    expect(output.endsWith(`\nInterrupted while ${phase}: ${state}\n`)).toBe(true);
    expect(deployment.temporary()).toEqual([]);
    const after = deployment.calls().slice(deployment.calls().indexOf(deployment.signals()[0] ?? '') + 1);
    // Whether a table was being created.
    expect(after).toEqual(hanging === 'terraform apply' ? ['terraform show -json'] : []);
  });

  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends with the exit code %i', async (signal, expected) => {
    deployment.arrange({ hanging: 'terraform plan' });
    const { child, ended } = deployment.start('develop --yes');
    await deployment.awaitCall('terraform plan waits');
    child.kill(signal);
    deployment.letEnd();
    expect((await ended).code).toBe(expected);
  });

  it("prints Terraform's error, and says where a state is that could not be saved", async () => {
    deployment.arrange({ hanging: 'terraform apply', error: 'Failed to save state' });
    const { child, ended } = deployment.start('develop --yes');
    await deployment.awaitCall('terraform apply waits');
    child.kill('SIGINT');
    writeFileSync(join(deployment.folder, 'infra/terraform/errored.tfstate'), '');
    deployment.letEnd();
    const { output } = await ended;
    expect(output).toContain('Error: Failed to save state');
    expect(output).toContain('Interrupted while applying: Terraform could not save its state');
  });

  it('gives the version before all requests again during a gradual deployment', async () => {
    const alias: Change = {
      address: 'aws_lambda_alias.live',
      actions: ['update'],
      before: { function_name: 'inquiries-develop', function_version: '3' },
    };
    deployment.arrange({ changes: [alias] });
    const { child, ended } = deployment.start('develop --yes --gradual 60');
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (data: Buffer) => data.includes('10 % of the requests') && resolve());
    });
    child.kill('SIGINT');
    const { code, output } = await ended;
    expect([code, deployment.calls().at(-1)]).toEqual([130, 'switch inquiries-develop 3']);
    expect(output).toContain('Version 3 of inquiries-develop gets all requests again.\n');
    expect(output).toContain('Interrupted while shifting the requests: Run the same command again.\n');
  });
});

describe.skipIf(!hasScript)('npm run deploy at a terminal', { timeout: 30_000 }, () => {
  it.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('%s at the question changes nothing and exits 2', async (_, key) => {
    const { ended } = await deployment.press(key, 'develop', (output) => output.includes('to confirm: '));
    const { code, output } = await ended;
    expect([code, deployment.applied()]).toEqual([2, false]);
    expect(output).toContain('Nothing was changed.');
    expect(deployment.temporary()).toEqual([]);
  });

  it('Ctrl-C while Terraform applies reaches Terraform once', async () => {
    deployment.arrange({ hanging: 'terraform apply' });
    const { child, ended } = await deployment.press(CTRL_C, 'develop --yes', () =>
      deployment.awaitCall('terraform apply waits'),
    );
    await deployment.awaitCall('terraform apply got SIGINT');
    child.stdin.write(CTRL_C);
    deployment.letEnd();
    const { code, output } = await ended;
    expect([code, deployment.signals()]).toEqual([130, ['terraform apply got SIGINT']]);
    expect(output).toContain('Interrupted while applying: Terraform saved what it had changed.');
  });
});
