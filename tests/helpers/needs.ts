/** What a machine may lack. At the end, tests/helpers/skipped-reporter.ts says what was skipped for want of it. */
declare module 'vitest' {
  interface TaskMeta {
    /** Why a suite or a test is skipped, and how to get what is missing. */
    skipped?: string;
  }
}

/** Options of a suite or a test that is skipped if there is an obstacle. */
export const unless = (obstacle: string | undefined): { skip?: true; meta?: { skipped: string } } =>
  obstacle === undefined ? {} : { skip: true, meta: { skipped: obstacle } };
