/** The types of the part of dynalite 4 that is used; it has none. */
declare module 'dynalite' {
  import type { Server } from 'node:http';
  export default function dynalite(options: {
    path: string | undefined;
    createTableMs?: number;
  }): Server;
}
