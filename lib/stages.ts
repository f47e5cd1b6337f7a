export const STAGES = ['develop', 'main', 'release'] as const;
export type Stage = (typeof STAGES)[number];

/** Whether a service may have the name: the same rule as in infra/terraform/variables.tf and its bootstrap. */
export const isServiceName = (name: string): boolean =>
  /^[a-z][a-z0-9-]{1,31}$/.test(name) &&
  !/-(develop|main|release)(-|$)|aws|amazon|cognito/.test(name);
