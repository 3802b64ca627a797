import { readFileSync } from 'node:fs';
import { supervisorProblem } from '@ethosagent/process';
import { ScopedProcessImpl } from '../scoped/scoped-process.js';

// A host of one kind: `supervised-host.ts <mark> <kind>`. Prints what its operator would see.
const [, , mark = '', kind] = process.argv;
const processes = new ScopedProcessImpl(new Set(['*']));
const told = () => process.stdout.write(`${supervisorProblem() ?? 'no problem'}\n`);
const sleep = (own: string) => {
  processes.spawn('sh', ['-c', 'sleep 3600; :', 'sh', own]).catch(() => {});
};

if (kind === 'starts nothing') {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1');
  if (children !== '') throw new Error(`there are ${children}`);
  told();
} else if (kind === 'is done') {
  await processes.spawn('true', []);
  told();
} else if (kind === 'has no Node') {
  process.execPath = '/nowhere/node';
  sleep(`${mark}:a`);
  process.on('SIGUSR2', () => {
    told();
    process.exit();
  });
  setInterval(() => {}, 60_000);
} else {
  sleep(`${mark}:a`);
  process.on('SIGUSR2', () => {
    told();
    sleep(`${mark}:b`);
  });
  setInterval(() => {}, 60_000);
}
