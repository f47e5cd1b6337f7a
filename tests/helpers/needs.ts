/** Things that a machine may lack. */
declare module 'vitest' {
  interface TaskMeta {
    skipped?: string;
  }
}

export const unless = (obstacle: string | undefined): { skip?: true; meta?: { skipped: string } } =>
  obstacle === undefined ? {} : { skip: true, meta: { skipped: obstacle } };
