import { createTimeFormat } from '../../ui/format.ts';

let format: typeof formatTime | undefined;

/** Created late: it takes long, and the first paint needs none. */
export const formatTime: ReturnType<typeof createTimeFormat> = (timestamp) =>
  (format ??= createTimeFormat())(timestamp);
