import { createTimeFormat } from '../../ui/format.ts';

let format: typeof formatTime | undefined;

/** Created at the first use, which the first paint has not. */
export const formatTime: ReturnType<typeof createTimeFormat> = (timestamp) =>
  (format ??= createTimeFormat())(timestamp);
