import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contest } from './contest.js';
import { layTask } from './task.js';
import { openTokenizer } from './tokenizer.js';

// Usage: tsx benchmarks/quality/programs/main.ts [files to read, 50 when absent]
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'programs-')));
const { count, remove } = openTokenizer();
try {
  const task = layTask(folder, Number(process.argv[2] ?? 50));
  console.log(`${task.files.length + 1} files read, tokens by o200k.\n`);
  for (const { way, steps, input, largest, output, ms } of await contest(folder, task, count)) {
    const figures = [steps, input, largest, output].map((each) => each.toLocaleString('en'));
    console.log(`| ${[way, ...figures, (ms / 1_000).toFixed(2)].join(' | ')} |`);
  }
} finally {
  remove();
  rmSync(folder, { recursive: true, force: true });
}
