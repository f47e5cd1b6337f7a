/**
 * What the alarms make of figures. `npm run check:infra` tests which figures they watch and when they ring.
 */
import { describe, expect, it } from 'vitest';
import { readText } from '../helpers/repository.ts';

const source = readText('infra/terraform/observability.tf');

/** A figure of one period; undefined: the series has no value there. */
type Figure = number | undefined;

/** What the operators of metric math make of two figures. */
const operators: Record<string, (left: number, right: number) => Figure> = {
  '>': (left, right) => Number(left > right),
  '>=': (left, right) => Number(left >= right),
  '<': (left, right) => Number(left < right),
  '<=': (left, right) => Number(left <= right),
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => (right === 0 ? undefined : left / right),
};
/** From the loosest to the tightest. */
const precedence = [
  ['>', '>=', '<', '<='],
  ['+', '-'],
  ['*', '/'],
];

/**
 * Evaluates an expression of CloudWatch's metric math as its documentation says: of two series an operator takes the one missing
 * value as 0, a division by 0 and an IF without a condition have no value, and the missing choice of an IF is 0. It knows what
 * the alarms use, and no FILL.
 */
function evaluate(expression: string, figures: Record<string, Figure>): Figure {
  const tokens = expression.match(/\w+|[<>]=?|\S/g) ?? [];
  const take = (...wanted: string[]) => expect(wanted).toContain(tokens.shift());
  interface Operand {
    readonly figure: Figure;
    readonly isSeries: boolean;
  }

  function calculate(operator: string, left: Operand, right: Operand): Operand {
    const isSeries = left.isSeries || right.isSeries;
    const isKnown = left.figure !== undefined || right.figure !== undefined;
    const filler = left.isSeries && right.isSeries && isKnown ? 0 : undefined;
    const [first, second] = [left.figure ?? filler, right.figure ?? filler];
    const isComplete = first !== undefined && second !== undefined;
    return { figure: isComplete ? operators[operator]?.(first, second) : undefined, isSeries };
  }

  function parse(level = 0): Operand {
    const own = precedence[level];
    if (own === undefined) return parseOperand();
    let operand = parse(level + 1);
    while (own.includes(tokens[0] ?? ''))
      operand = calculate(tokens.shift() ?? '', operand, parse(level + 1));
    return operand;
  }

  function parseOperand(): Operand {
    const token = tokens.shift() ?? '';
    if (/^\d+$/.test(token)) return { figure: Number(token), isSeries: false };
    if (token === '(') {
      const operand = parse();
      take(')');
      return operand;
    }
    if (token === 'IF') {
      take('(');
      const [condition, choice, otherwise] = [0, 1, 2].map(() => {
        const operand = parse();
        take(',', ')');
        return operand.figure;
      });
      const chosen = condition === 0 ? otherwise : (choice ?? 0);
      return { figure: condition === undefined ? undefined : chosen, isSeries: true };
    }
    expect(Object.keys(figures)).toContain(token);
    return { figure: figures[token], isSeries: true };
  }

  const { figure } = parse();
  expect(tokens).toEqual([]);
  return figure;
}

describe('the alarms on expressions', () => {
  const alarms = new Map(
    [...source.matchAll(/^ {4}([a-z0-9-]+) = \{\n {6}description = .*?^ {4}\}/gms)].map(([text, name]) => [
      name,
      text,
    ]),
  );
  const expressionOf = (alarm: string) => /expression\s+= "(.*)"/.exec(alarms.get(alarm) ?? '')?.[1] ?? '';
  const thresholdOf = (alarm: string) => Number(/threshold\s+= (\d+)\n/.exec(alarms.get(alarm) ?? '')?.[1]);

  const none = undefined;
  const throttles: [Record<string, Figure>, Figure][] = [
    [{ reads: 2, writes: 3, requests: 9 }, 5],
    [{ reads: 2, writes: none, requests: none }, 2],
    [{ reads: none, writes: 3, requests: 9 }, 3],
    [{ reads: none, writes: none, requests: 9 }, 0],
    [{ reads: none, writes: none, requests: none }, none],
  ];
  const figures: Record<string, [Record<string, Figure>, Figure][]> = {
    'api-5xx-rate': [
      [{ requests: 100, failures: 2, not_json: 0 }, 2],
      [{ requests: 100, failures: 3, not_json: 1 }, 2],
      [{ requests: 100, failures: 1, not_json: 0 }, 1],
      [{ requests: 100, failures: 5, not_json: 5 }, 0],
      [{ requests: 100, failures: 2, not_json: none }, 2],
      [{ requests: 100, failures: none, not_json: 0 }, 0],
      [{ requests: 0, failures: 0, not_json: 0 }, 0],
      [{ requests: none, failures: none, not_json: none }, none],
    ],
    'issuer-outage': [
      [{ refused: 10, admitted: 0 }, 100],
      [{ refused: 9, admitted: 0 }, 0],
      [{ refused: 10, admitted: none }, 100],
      [{ refused: 24, admitted: 1 }, 96],
      [{ refused: 19, admitted: 1 }, 95],
      [{ refused: 0, admitted: 90 }, 0],
      [{ refused: none, admitted: none }, none],
    ],
    'table-throttles': throttles,
    'table-system-errors': [
      [{ puts: 1, transactions: 2, queries: 4, requests: 9 }, 7],
      [{ puts: none, transactions: none, queries: 4, requests: none }, 4],
      [{ puts: 1, transactions: none, queries: none, requests: 9 }, 1],
      [{ puts: none, transactions: none, queries: none, requests: 9 }, 0],
      [{ puts: none, transactions: none, queries: none, requests: none }, none],
    ],
    'index-throttles': throttles,
    'mailer-errors': [
      [{ errors: 1, lost: 2 }, 3],
      [{ errors: none, lost: 2 }, 2],
      [{ errors: none, lost: none }, none],
    ],
  };

  it('has figures here for every expression', () => {
    expect(Object.keys(figures)).toEqual([...alarms.keys()].filter((name = '') => expressionOf(name) !== ''));
  });

  it.each(
    Object.entries(figures).flatMap(([alarm, rows]) =>
      rows.map(([given, result]) => ({ alarm, given, result })),
    ),
  )('$alarm makes $result of $given', ({ alarm, given, result }) => {
    expect(evaluate(expressionOf(alarm), given)).toBe(result);
  });

  it.each([
    [
      'api-5xx-rate',
      { requests: 100, failures: 2, not_json: 0 },
      { requests: 100, failures: 1, not_json: 0 },
    ],
    ['issuer-outage', { refused: 30, admitted: 1 }, { refused: 30, admitted: 2 }],
  ])('%s rings at %j and not at %j', (alarm, over, under) => {
    expect(evaluate(expressionOf(alarm), over)).toBeGreaterThan(thresholdOf(alarm));
    expect(evaluate(expressionOf(alarm), under)).not.toBeGreaterThan(thresholdOf(alarm));
  });

  // The documentation does not say whether a series that never had data counts as one with missing values.
  it.each([
    ['api-5xx-rate', ['NotJson']],
    ['issuer-outage', ['Refused', 'Admitted']],
  ])('%s has a value in each of its log metrics with every request', (alarm, metrics) => {
    const log = /namespace = local\.metric_namespace, name = "(\w+)"/g;
    expect([...(alarms.get(alarm) ?? '').matchAll(log)].map(([, metric]) => metric)).toEqual(metrics);
    for (const metric of metrics) {
      const [, filter] = new RegExp(`^ {4}${metric}\\s+= \\{(.*?)\\}$`, 'ms').exec(source) ?? [];
      expect(filter).toMatch(/value\s+= "0"/);
    }
  });
});
