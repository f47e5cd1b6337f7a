import type { Query } from './client.ts';

/** The first order is the default. */
export const CHOICES: Readonly<
  Record<Query['show'], { title: string; orders: readonly [Query['order'], Query['order']?] }>
> = {
  unanswered: { title: 'Unanswered', orders: ['oldest', 'newest'] },
  answered: { title: 'Closed', orders: ['answered', 'newest'] },
  all: { title: 'All', orders: ['newest', 'oldest'] },
  undelivered: { title: 'Came back', orders: ['answered'] },
};

export const ORDERS: Readonly<Record<Query['order'], string>> = {
  oldest: 'Oldest first',
  newest: 'Newest first',
  answered: 'Latest answer first',
};

export const queryOf = (show: Query['show']): Query => ({
  show,
  order: CHOICES[show].orders[0],
  text: '',
});

export const FIRST_QUERY = queryOf('unanswered');

/** An empty text ends the search. */
export const searchFor = (text: string): Query =>
  text === '' ? FIRST_QUERY : { ...queryOf('all'), text };

export function turned(query: Query): Query | undefined {
  const order = CHOICES[query.show].orders.find((each) => each !== query.order);
  return order && query.text === '' ? { ...query, order } : undefined;
}
