/** `npm run dev` as a process. The tests depend on their order. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { readRunningStack } from '../../lib/running-stack.ts';
import { on, setUp, whyNoBrowser } from '../helpers/chromium.ts';
import { folder, noJava, start, WAIT, type Running } from '../helpers/npm-start.ts';

/** A checkout that a test may change: copies of what `npm start` reads, and a link to node_modules. */
function copyCheckout(): string {
  const target = join(folder, 'checkout');
  const rooms = ['src', 'lib', 'local', 'deploy', 'web', 'infra', 'docs'];
  for (const part of [...rooms, 'package.json', 'tsconfig.json']) {
    fs.cpSync(join(ROOT, part), join(target, part), { recursive: true });
  }
  fs.symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  return target;
}

describe.skipIf(noJava !== undefined)('npm start -- --watch', () => {
  const here = setUp();
  const temporary = join(folder, 'tmp');
  let root = '';
  let stack: Running;
  beforeAll(async () => {
    root = copyCheckout();
    fs.mkdirSync(temporary);
    const env = { TMPDIR: temporary, JAVA_TOOL_OPTIONS: `-Djava.io.tmpdir=${temporary}` };
    stack = await start(join(root, '.data'), ['--port', '0', '--watch'], { root, env });
  });

  /** As editors and git do. */
  const replace = (file: string, from: string, to: string) => {
    const path = join(root, file);
    fs.writeFileSync(`${path}~`, fs.readFileSync(path, 'utf8').replace(from, to));
    fs.renameSync(`${path}~`, path);
  };
  const replaceSource = async (file: string, from: string, to: string) => {
    const before = stack.said().length;
    replace(file, from, to);
    await expect
      .poll(() => stack.said().slice(before), WAIT)
      .toContain(`${file} changed: reloaded`);
  };

  it('runs the new code of the function and of the mailer each time it changes', async () => {
    let text = 'Allowed methods';
    for (const next of ['Once', 'Twice']) {
      await replaceSource('src/errors.ts', text, next);
      expect((await stack.send('PUT')).json).toMatchObject({ message: `${next}: GET, POST.` });
      text = next;
    }
    const team = 'support@example.com';
    const mails = [[team, '[inquiries local] 1']];
    await stack.send('POST', '1');
    await expect.poll(stack.mails, WAIT).toEqual(mails);
    await replaceSource('src/mailer/team-mails.ts', '[inquiries ', '[new ');
    await stack.send('POST', '2');
    await expect.poll(stack.mails, WAIT).toEqual([...mails, [team, '[new local] 2']]);
  });

  it.skipIf(whyNoBrowser !== undefined)(
    'shows a change in the open contact form, whose text stays',
    async () => {
      const { page, complaints } = await here.open();
      await page.goto(stack.addressOf('Form'));
      await on(page).signIn('ana@example.com');
      await on(page).write('Half', 'written');

      let loads = 0;
      page.on('load', () => void loads++);
      replace('web/ui/style.css', '', ':root { --probe: 1; }\n');
      const style = "getComputedStyle(document.documentElement).getPropertyValue('--probe')";
      await expect.poll(() => page.evaluate(style), WAIT).toBe('1');
      expect(await on(page).message.inputValue()).toBe('written');
      expect(loads).toBe(0);

      replace('web/src/main.ts', '', `document.documentElement.dataset['probe'] = '3';`);
      const probe = 'document.documentElement.dataset.probe';
      await expect.poll(() => page.evaluate(probe), WAIT).toBe('3');
      await expect.poll(() => on(page).message.inputValue(), WAIT).toBe('written');
      expect(complaints).toEqual([]);
    },
  );

  it('serves the sources of the form to the pages that may call the API, and nothing else of the checkout', async () => {
    const demo = stack.addressOf('Demo');
    const form = stack.addressOf('Form');
    for (const origin of [demo, 'https://www.example.com']) {
      const { headers } = await fetch(`${form}/inquiry-form.js`, { headers: { origin } });
      expect(headers.get('access-control-allow-origin')).toBe(origin === demo ? demo : null);
    }
    // The issuer's key lies there, too.
    expect((await fetch(`${form}/@fs${root}/package.json`)).status).toBe(403);
  });

  it('is found by the smoke test', () => {
    const args = ['deploy/smoke.ts'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect(stdout).toContain(' passed, 0 failed, ');
  });

  it('has a docs page whose token command and four curl lines work as they are copied', async () => {
    const html = await (await fetch(stack.addressOf('Docs'))).text();
    const [token = '', ...curls] = [...html.matchAll(/<pre>(.*?)<\/pre>/gs)].map(
      ([, line = '']) => line,
    );
    const run = (curl: string) =>
      spawnSync('sh', ['-c', `${token}\n${curl}`], { cwd: root, encoding: 'utf8' }).stdout;
    expect(curls).toHaveLength(4);
    for (const curl of curls) expect(run(curl)).toMatch(/"inquir(y|ies)":.*"Hello"|"Once"/);
    expect(run(curls.at(-1) ?? '')).toMatch(/^idempotency-replayed: true/im);
  });

  it('leaves no temporary files and no process, also when it is killed', async () => {
    const { pid, enginePid } = readRunningStack(join(root, '.data'));
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    const children = stdout.trim().split(/\s+/);
    // The engine, the function and the mailer, among others.
    expect(children.length).toBeGreaterThanOrEqual(3);
    // By which a start is refused beside an engine that outlives its stack.
    expect(children).toContain(String(enginePid));
    expect(await stack.stop('SIGKILL')).toBe(null);
    await expect.poll(() => spawnSync('ps', ['-p', children.join()]).status, WAIT).toBe(1);
    expect(fs.readdirSync(temporary)).toEqual([]);
  });
});
