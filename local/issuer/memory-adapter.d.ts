/** The in-memory storage of oidc-provider 9, which its types leave out. */
declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterFactory } from 'oidc-provider';
  export function createMemoryAdapter(): AdapterFactory;
}
