import { parseArgs } from 'node:util';
import { round, type SoakReport, soak } from './soak.js';

// `pnpm soak [--minutes 30] [--seed N] [--pace 40]`. Ends with 1 when anything is off.

const { values } = parseArgs({
  // pnpm passes on the `--` that separates its own options.
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    pace: { type: 'string', default: '40' },
  },
});
const minutes = numberOf('minutes', values.minutes);
const seed = numberOf('seed', values.seed);
const paceMs = numberOf('pace', values.pace);

console.log(`Soak: ${minutes} minutes, seed ${seed} (--seed ${seed} repeats its choices)`);
const report = await soak({ minutes, seed, paceMs, report: (line) => console.log(line) });
print(report);
process.exitCode = report.findings.length === 0 ? 0 : 1;

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`--${name}: a number above zero is needed, not ${text}`);
}

function print({ batches, calls, events, restarts, rows, findings }: SoakReport): void {
  console.log(
    `\n${batches} batches of ${calls} calls, ${restarts} restarts, ${events} audit events`,
  );
  console.log('Medians while nothing runs    second fifth    last fifth         limit');
  for (const { measure, early, late, limit, isFlat } of rows) {
    const numbers = [early, late, limit].map((value) => round(value).padStart(14)).join('');
    console.log(`  ${measure.padEnd(26)}${numbers}  ${isFlat ? 'flat' : 'NOT FLAT'}`);
  }
  console.log(findings.length === 0 ? '\nNothing was off.' : '\nOff:');
  for (const finding of findings) console.log(`  ${finding}`);
}
