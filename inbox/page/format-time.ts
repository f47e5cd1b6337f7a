import { createTimeFormat } from '../../ui/format.ts';

let format: typeof formatTime | undefined;

/** The browser's formats take long to create, and the first paint needs none. */
export const formatTime: ReturnType<typeof createTimeFormat> = (timestamp) =>
  (format ??= createTimeFormat())(timestamp);
