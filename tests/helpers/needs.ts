/** What a machine may lack; tests/helpers/skipped-reporter.ts says what was skipped. */
declare module 'vitest' {
  interface TaskMeta {
    skipped?: string;
  }
}

export const unless = (obstacle: string | undefined): { skip?: true; meta?: { skipped: string } } =>
  obstacle === undefined ? {} : { skip: true, meta: { skipped: obstacle } };
