import { processAttacks, startScript } from '@ethosagent/conformance/attacks';
import { bundleScript } from '@ethosagent/test-support';
import { attackedCalls } from '../testing/attacked-call.js';

const host = await bundleScript(new URL('../testing/process-host.ts', import.meta.url));

processAttacks('ScopedProcessImpl', attackedCalls({}));

processAttacks('ScopedProcessImpl in a sandbox', attackedCalls({ sandbox: 'required' }), {
  sandboxed: true,
  startHost: (program, mark) => startScript(host, { args: [program, mark] }),
});
