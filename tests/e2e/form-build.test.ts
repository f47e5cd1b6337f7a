/** The contact form as it is built for every stage. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { buildFormWhenStale } from '../../scripts/local/form.ts';

const DIST = join(import.meta.dirname, '../../web/dist');
const read = (file: string): Buffer => readFileSync(join(DIST, file));

beforeAll(async () => {
  await buildFormWhenStale();
});

it('is under 30 KB gzipped in all, the sign-in client included', () => {
  const files = globSync('**/*.*', { cwd: DIST });
  expect(files.some((file) => file.endsWith('.css'))).toBe(true);
  const total = files.reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0);
  expect(total).toBeLessThan(30 * 1024);
});

it('carries its own policy, and nothing inline that the policy would have to allow', () => {
  const html = read('index.html').toString();
  const [, policy = ''] = /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(html) ?? [];
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).not.toMatch(/unsafe|(^| )\*(;| |$)/);
  expect(html.indexOf(policy)).toBeLessThan(html.indexOf('<script'));
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
});

it('names no stage: every address in it is relative, and config.json is not part of it', () => {
  const html = read('index.html').toString();
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
  expect(addresses.length).toBeGreaterThan(3);
  for (const address of addresses) expect(address).toMatch(/^\.\//);
  expect(globSync('**/config.json', { cwd: DIST })).toEqual([]);
});
