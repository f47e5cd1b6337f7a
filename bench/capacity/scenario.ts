/** What a simulation can be told: each number is an option of the command. limits.ts has the sources of the quotas. */

/** Default, least, most, meaning. Numbers whose default is a whole number of at least 1 are whole. */
export const NUMBERS = {
  rate: [10_000, 1, 1e6, 'POSTs a second'],
  keyed: [0.9, 0, 1, 'share of them with an Idempotency-Key'],
  owners: [100_000, 2, 1e6, 'owners who send them'],
  flood: [0, 0, 1, 'share of all POSTs that one owner sends'],
  hours: [24, 1, 24, 'simulated time'],
  seed: [1, 1, 2 ** 31 - 2, 'of arrivals and of the places of keys'],
  warm: [4_000, 4_000, 1e6, 'write units a second that table and index take at first'],
  indexKeys: [16, 1, 4_096, 'partition keys of the index'],
  indexFactor: [1, 1, 2, 'what a transaction multiplies the units of index entries with'],
  tableQuota: [40_000, 4_000, 1e6, 'write units a second of the table, and of the index'],
  gateway: [10_000, 1, 1e6, "requests a second of the account's gateway"],
  concurrency: [1_000, 1, 1e5, 'concurrent executions of the account'],
  sesRate: [14, 1, 1e5, 'mails a second'],
  sesDaily: [50_000, 1, 1e9, 'mails a day'],
  mailMs: [300, 1, 20_000, 'milliseconds of a mail'],
  sideBySide: [10, 1, 100, 'mails at a time in one invocation'],
  parallelization: [1, 1, 10, 'batches of a shard at a time'],
  stageMails: [100, 0, 1e6, 'mails an hour about inquiries, the rest in digests; 0: no limit, no digests'],
  digestMinutes: [5, 1, 60, 'minutes between digests'],
  mailerUnits: [1, 0, 100, 'write units of the mailer for an inquiry; 0: a stage without mail'],
} as const;

export type Scenario = { readonly [Name in keyof typeof NUMBERS]: number };

/** The service with one index key and one mail after the other; as it is; and with quotas that AWS has raised. */
export const MODELS: Readonly<Record<string, Partial<Scenario>>> = {
  before: { indexKeys: 1, sideBySide: 1, stageMails: 0 },
  after: {},
  raised: { warm: 80_000, tableQuota: 80_000, gateway: 20_000, concurrency: 2_000 },
};

/** The numbers of a model, with those that are given. */
export function createScenario(model: string, given: Partial<Scenario> = {}): Scenario {
  const defaults = Object.entries(NUMBERS).map(([name, [value]]) => [name, value]);
  return { ...(Object.fromEntries(defaults) as Scenario), ...MODELS[model], ...given };
}
