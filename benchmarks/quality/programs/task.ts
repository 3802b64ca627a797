import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is asked: orders of many files, joined with one of customers, and summed by country. */
export interface Task {
  /** Of the orders, relative to the folder. */
  files: string[];
  prompt: string;
  /** The answer, one line a country. */
  answer: string;
}

const COUNTRIES = ['AT', 'CH', 'DE', 'FR', 'IT'];
const FILLER = 'Deliver between nine and twelve, ring twice, and leave nothing at the door.';

/** Lays out the files. The same each time. */
export function layTask(folder: string, count: number): Task {
  const customers = Array.from({ length: 20 }, (_, at) => ({
    id: `c${at}`,
    name: `Customer ${at}`,
    country: COUNTRIES[at % COUNTRIES.length] ?? '',
  }));
  const totals = new Map<string, number>();
  mkdirSync(join(folder, 'orders'), { recursive: true });
  const files = Array.from({ length: count - 1 }, (_, at) => {
    const customer = customers[(at * 7) % customers.length];
    const lines = Array.from({ length: 5 }, (_, line) => ({
      article: `A-${1_000 + at * 5 + line}`,
      quantity: 1 + ((at + line) % 4),
      cents: 199 + ((at * 37 + line * 11) % 900),
    }));
    const sum = lines.reduce((all, { quantity, cents }) => all + quantity * cents, 0);
    const { country = '' } = customer ?? {};
    totals.set(country, (totals.get(country) ?? 0) + sum);
    const file = `orders/${String(at).padStart(3, '0')}.json`;
    const order = { number: 10_000 + at, customer: customer?.id, note: FILLER, lines };
    writeFileSync(join(folder, file), `${JSON.stringify(order, null, 2)}\n`);
    return file;
  });
  writeFileSync(join(folder, 'customers.json'), `${JSON.stringify(customers, null, 2)}\n`);
  return {
    files,
    prompt: `The files ${files[0]} to ${files.at(-1)} each hold an order, and customers.json the customers. Say for each country the sum of its orders in cents, one line each, sorted by country.`,
    answer: sumLines(totals),
  };
}

export function sumLines(totals: ReadonlyMap<string, number>): string {
  return [...totals]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([country, cents]) => `${country} ${cents}`)
    .join('\n');
}
