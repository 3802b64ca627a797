import { openRuntime } from './open-runtime.js';

// Calls the tool as an agent would: one call that is allowed, and one that is refused.
const runtime = await openRuntime();
const answers = await runtime.execute([
  { toolCallId: '1', name: 'count_words', args: { path: 'workspace/hello.txt' } },
  { toolCallId: '2', name: 'count_words', args: { path: 'package.json' } },
]);
for (const { result } of answers) console.log(result.ok ? result.value : result.error);
await runtime.close();
