/** The part of dynalite 4 that is used; the package has no types. */
declare module 'dynalite' {
  import type { Server } from 'node:http';
  export default function dynalite(options: {
    path: string | undefined;
    createTableMs?: number;
  }): Server;
}
