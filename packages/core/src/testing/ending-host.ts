import { spawn } from 'node:child_process';
import { CallScope } from '../call-scope.js';
import { ScopedProcessImpl } from '../scoped/scoped-process.js';
import { KINDS_OF_CHILDREN } from './kinds-of-children.js';

// A host with children of some kinds: `ending-host.ts <mark> <kind>,<kind>...`. Each child has
// `<mark>:<kind>` among its arguments. SIGUSR2 ends the host by `process.exit`, SIGPIPE by an
// uncaught error.
const [, self = '', mark = '', kinds = ''] = process.argv;
process.on('SIGUSR2', () => process.exit(0));
process.on('SIGPIPE', () => {
  throw new Error('nobody catches this');
});
for (const { kind, door, program, isHost } of KINDS_OF_CHILDREN) {
  if (!kinds.split(',').includes(kind)) continue;
  const journal = { sessionId: 's', personalityId: 'p', audit: undefined, now: Date.now };
  // Each child belongs to a call that does not end, so that no end of a call ends it.
  const scope = new CallScope(journal, { toolName: 'tool', toolCallId: kind });
  const processes = new ScopedProcessImpl(new Set(['*']), { scope });
  const own = `${mark}:${kind}`;
  const [binary, args] =
    isHost === true
      ? [process.execPath, [self, own, kinds.replace(kind, '')]]
      : ['sh', ['-c', program, 'sh', own]];
  if (door === 'prepare') {
    const prepared = await processes.prepare(binary, args);
    spawn(prepared.file, prepared.args, { env: prepared.env, stdio: 'ignore' });
  } else if (door === 'spawn') processes.spawn(binary, args).catch(() => {});
  else (await processes.launch(door, binary, args, {})).result.catch(() => {});
}
setInterval(() => {}, 60_000);
