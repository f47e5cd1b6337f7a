import { Entity } from 'electrodb';

/** How many inquiries a person, known only by a hash, has stored in an hour. docs/adr/0091 */
export const createRateEntity = (table: string) =>
  new Entity(
    {
      model: { service: 'inquiries', entity: 'rate', version: '1' },
      attributes: {
        /** {@link toOwnerHour} */
        owner_hour: { type: 'string' },
        inquiries: { type: 'number' },
        /** Beginnings of digests of the stored keys, or a placeholder. */
        keys: { type: 'set', items: 'string' },
        /** Seconds since the epoch. */
        expires_at: { type: 'number', required: true },
      },
      indexes: {
        byOwnerHour: {
          pk: { field: 'pk', composite: ['owner_hour'], casing: 'none' },
          sk: { field: 'sk', composite: [], casing: 'none' },
        },
      },
    } as const,
    { table },
  );
