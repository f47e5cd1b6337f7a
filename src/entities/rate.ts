import { Entity } from 'electrodb';

/** Inquiries that a person, whom the key does not name, has stored in an hour. docs/adr/0091 */
export const createRateEntity = (table: string) =>
  new Entity(
    {
      model: { service: 'inquiries', entity: 'rate', version: '1' },
      attributes: {
        /** {@link toOwnerHour} */
        owner_hour: { type: 'string' },
        inquiries: { type: 'number' },
        /** Beginnings of the stored keys' digests, and a placeholder. */
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
