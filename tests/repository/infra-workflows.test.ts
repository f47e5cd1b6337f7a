import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, STAGES } from '../../scripts/infra/terraform.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const deploy = read('.github/workflows/deploy.yml');
const check = read('.github/workflows/check.yml');

describe('the workflows', () => {
  it('deploy every stage from the branch of its name, after the checks', () => {
    expect(deploy).toContain(`branches: [${STAGES.join(', ')}]`);
    expect(deploy).toContain('uses: ./.github/workflows/check.yml');
    expect(deploy).toContain('needs: check');
    expect(deploy).toContain('name: ${{ github.ref_name }}');
  });

  it('check every pull request as `.ci/run` does, and let no check of the infrastructure be skipped', () => {
    expect(check).toMatch(/^on:\n {2}pull_request:/m);
    expect(check).toContain('run: .ci/run');
    expect(check).toContain('run: npm run check:infra -- --no-skip');
  });

  it('hold no stored AWS keys, and may write nothing but the identity token', () => {
    expect(deploy + check).not.toMatch(/access-key|ACCESS_KEY|pull_request_target/i);
    const granted = [...(deploy + check).matchAll(/^\s+([a-z-]+): (read|write)\b/gm)].map(
      ([, name, may]) => `${name} ${may}`,
    );
    expect(new Set(granted)).toEqual(new Set(['contents read', 'id-token write']));
  });

  it('put no expression into a shell', () => {
    const scripts = [...(deploy + check).matchAll(/run: (?:[|>]-?\n(?<block>(?: {10}.*\n)+)|(?<line>.*))/g)];
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.filter(([script]) => script.includes('${{'))).toEqual([]);
  });
});
