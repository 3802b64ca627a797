import type { Task } from './task.js';

/** What a model says in one step. */
export interface Step {
  text?: string;
  calls?: { name: string; args: unknown }[];
}

const read = (path: string) => ({ name: 'read_file', args: { path } });

const PROGRAM = (files: readonly string[]) => `
const names = Array.from({ length: ${files.length} }, (_, at) => \`orders/\${String(at).padStart(3, '0')}.json\`);
const customers = new Map(JSON.parse(await tools.read_file({ path: 'customers.json' })).map((c) => [c.id, c.country]));
const orders = await Promise.all(names.map(async (path) => JSON.parse(await tools.read_file({ path }))));
const totals = {};
for (const { customer, lines } of orders) {
  const country = customers.get(customer);
  for (const { quantity, cents } of lines) totals[country] = (totals[country] ?? 0) + quantity * cents;
}
for (const country of Object.keys(totals).sort()) console.log(country, totals[country]);
export {};
`;

/** Ways to do the task, by what they are called. A model that makes no mistake would go them. */
export const WAYS: Readonly<Record<string, (task: Task) => Step[]>> = {
  'one call a step': ({ files, answer }) => [
    { calls: [read('customers.json')] },
    ...files.map((file) => ({ calls: [read(file)] })),
    { text: answer },
  ],
  'all calls in one step': ({ files, answer }) => [
    { calls: [read('customers.json'), ...files.map(read)] },
    { text: answer },
  ],
  'one program': ({ files, answer }) => [
    { calls: [{ name: 'run_code', args: { language: 'javascript', code: PROGRAM(files) } }] },
    { text: answer },
  ],
};
