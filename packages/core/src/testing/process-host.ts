import { attackedCalls } from './attacked-call.js';

// A host that may be killed while its call runs: `process-host.ts <program> <mark> [<sandbox>]`.
const [, , program = '', mark = '', sandbox = 'required'] = process.argv;
const call = attackedCalls({ sandbox: sandbox !== 'off' && 'required' })({
  read: [],
  write: [],
  deny: [],
});
const running = call.process.spawn('sh', ['-c', program, 'sh', mark], {
  env: { ATTACK_MARK: mark },
});
process.stdout.write((await running).stdout);
// Keeps the call from ending.
await new Promise((resolve) => setTimeout(resolve, 60_000));
