import { fileURLToPath } from 'node:url';
import { processAttacks, startScript } from '@ethosagent/conformance/attacks';
import { attackedCalls } from '../testing/attacked-call.js';

const host = fileURLToPath(new URL('../testing/process-host.ts', import.meta.url));
const tsconfig = fileURLToPath(new URL('../../../../tsconfig.sources.json', import.meta.url));

processAttacks('ScopedProcessImpl', attackedCalls({}));

processAttacks('ScopedProcessImpl in a sandbox', attackedCalls({ sandbox: 'required' }), {
  sandboxed: true,
  startHost: (program, mark) => startScript(host, { args: [program, mark], tsconfig }),
});
