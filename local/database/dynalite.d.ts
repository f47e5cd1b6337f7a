/** The used part of dynalite 4, which has no types. */
declare module 'dynalite' {
  import type { Server } from 'node:http';
  export default function dynalite(options: {
    path: string | undefined;
    createTableMs?: number;
  }): Server;
}
