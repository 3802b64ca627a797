import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt, type Outcome } from './contest.js';
import type { Driver } from './driver.js';
import { ours } from './ours.js';
import { installPeers, PEERS, peer } from './peer.js';
import { serveSite } from './site.js';
import { snapshotSizes } from './sizes.js';
import { TASKS } from './tasks.js';

// Usage: tsx benchmarks/quality/browser/main.ts [Chromium] [only tasks whose name has this text]
const chromium = process.argv[2] ?? '/usr/bin/chromium-headless-shell';
const wanted = process.argv[3] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'quality-browser-'));
const installed = join(folder, 'peers');
installPeers(installed);
const load = createRequire(join(installed, 'package.json'));
const { countTokens }: { countTokens: (text: string) => number } = load('gpt-tokenizer');

const site = await serveSite();
const folders = ['ours', 'peer', 'find'].map((name) => join(folder, name));
const text = 'the notes';
for (const place of folders) {
  mkdirSync(place);
  writeFileSync(join(place, 'notes.txt'), text);
}
const [mine = '', theirs = '', finds = ''] = folders;
const common = { chromium, tokensOf: countTokens };
const first = ours({ folder: mine, host: site.host, ...common });
const second = await peer({ installed, folder: theirs, looks: 'snapshot', ...common });
const third = await peer({ installed, folder: finds, looks: 'find', ...common });
const drivers: Driver[] = [first, second, third];
const totals = drivers.map(() => ({ done: 0, calls: 0, tokens: 0, ms: 0 }));

try {
  // Each browser starts before anything is counted.
  for (const driver of drivers) await driver.open(`${site.origin}/contact`);
  console.log(
    `Beside ${Object.entries(PEERS)
      .map((pair) => pair.join(' '))
      .join(', ')}.\n`,
  );
  console.log(`| task | ${drivers.map(({ name }) => name).join(' | ')} |`);
  for (const task of TASKS.filter(({ name }) => name.includes(wanted))) {
    const outcomes: Outcome[] = [];
    for (const [at, driver] of drivers.entries()) {
      const file = { path: join(folders[at] ?? '', 'notes.txt'), text };
      outcomes.push(await attempt(task, driver, { site, file }));
    }
    console.log(`| ${[task.name, ...outcomes.map(cell)].join(' | ')} |`);
    for (const [at, { isDone, failure, calls, tokens, ms }] of outcomes.entries()) {
      const total = totals[at];
      if (total === undefined) continue;
      if (isDone) total.done += 1;
      else console.log(`  ${drivers[at]?.name}: ${failure?.slice(0, 600)}`);
      total.calls += calls;
      total.tokens += tokens;
      total.ms += ms;
    }
  }
  console.log(
    `| all | ${totals.map(({ done, ms, tokens, calls }) => `${done}, ${ms.toFixed(0)} ms, ${tokens} tokens, ${calls} calls`).join(' | ')} |`,
  );
  console.log(
    `\nDefinitions of the tools: ${countTokens(first.definitions)} tokens beside ${countTokens(second.definitions)}.`,
  );
  if (wanted === '')
    for (const line of await snapshotSizes([first, second], site, countTokens)) console.log(line);
} finally {
  for (const driver of drivers) await driver.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
}

function cell({ isDone, ms, tokens }: Outcome): string {
  return `${isDone ? 'done' : 'not done'}, ${ms.toFixed(0)} ms, ${tokens} tokens`;
}
