import { expect, it } from 'vitest';
import { isServiceName } from '../../lib/aws/stages.ts';

it.each([
  ['ab', true],
  ['n'.repeat(19), true],
  ['foo-mainframe', true],
  ['release', true],
  ['a', false],
  ['n'.repeat(20), false],
  ['A', false],
  ['1a', false],
  ['foo-main', false],
  ['foo-develop-x', false],
  ['my-cognito', false],
  ['paws', false],
])('%s may be the name of a service: %s', (name, expected) => {
  expect(isServiceName(name)).toBe(expected);
});
