import { Entity } from 'electrodb';

/** How many inquiries a person has stored in an hour; the key does not name the person. docs/adr/0091 */
export const createRateEntity = (table: string) =>
  new Entity(
    {
      model: { service: 'inquiries', entity: 'rate', version: '1' },
      attributes: {
        /** {@link toOwnerHour} */
        owner_hour: { type: 'string' },
        inquiries: { type: 'number' },
        /** Beginnings of the stored keys' digests, and what stands for none. */
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
