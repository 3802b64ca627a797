import assert from 'node:assert/strict';
import { braveSearch, createWebTools, exaSearch } from '@ethosagent/tools-web';
import { createToolRuntime } from '@ethosagent/wiring';
import { createWorld } from './world.js';

const world = await createWorld();
const runtime = await createToolRuntime({
  home: world.home,
  personality: 'researcher',
  cwd: world.home,
  // The personality chooses between the two. This Brave is on loopback.
  tools: createWebTools({
    searchProviders: [braveSearch({ baseUrl: world.origin }), exaSearch()],
  }),
});

/** One call; what it comes back with is printed. */
async function call(name: string, args: Record<string, unknown>, personality = 'researcher') {
  // No model reads this: the program itself says what is called.
  const [answer] = await runtime.execute([{ toolCallId: '1', name, args }], {
    personality,
    protections: 'none',
  });
  assert(answer);
  const { result } = answer;
  const text = result.ok ? result.value : `${result.code}: ${result.error}`;
  assert(!JSON.stringify(result).includes(world.key), 'the key got out');
  const lines = text.split('\n').filter((line) => line !== '');
  const shown = lines.length > 4 ? [...lines.slice(0, 3), '…', lines.at(-1)] : lines;
  process.stdout.write(`\n${personality}: ${name} ${JSON.stringify(args).slice(0, 80)}\n`);
  process.stdout.write(`${shown.map((line) => `  ${line?.slice(0, 110)}`).join('\n')}\n`);
  return { text, structured: result.ok ? (result.structured ?? {}) : undefined };
}

try {
  const found = await call('web_search', { query: 'when does the tide come in' });
  assert.match(found.text, /^1\. The tide \(2026-03-04\)\n/);
  assert(!found.text.includes('2. '), 'the same page twice');

  const url = `${world.origin}/tide`;
  const parts: string[] = [];
  let cursor: unknown;
  do {
    const part = await call('fetch_url', cursor === undefined ? { url } : { url, cursor });
    assert(part.structured !== undefined, part.text);
    parts.push(part.text);
    cursor = part.structured.nextCursor;
  } while (cursor !== undefined);
  assert(parts.length > 1, 'the page came in one part');
  assert(parts.join('').includes('12\\. The tide'), 'the end is missing');
  assert(!parts.join('').includes('your keys'), 'what nobody sees was shown');
  assert.equal(world.asked.filter((path) => path === '/tide').length, 1, 'the cache was not used');

  const moved = await call('fetch_url', { url: `${world.origin}/old` });
  assert.equal(moved.structured?.url, url);

  const trap = await call('fetch_url', { url: `${world.origin}/trap` });
  assert.match(trap.text, /^execution_failed: HOST_NOT_ALLOWED/);
  const missing = await call('fetch_url', { url: `${world.origin}/nowhere` });
  assert.match(missing.text, /^execution_failed: HTTP 404/);

  const before = world.asked.length;
  const hermit = await call('fetch_url', { url }, 'hermit');
  assert.match(hermit.text, /^execution_failed: HOST_NOT_ALLOWED/);
  assert.equal(world.asked.length, before);
  process.stdout.write(
    '\nThe hermit has the same tools, and sees nothing of what the researcher keeps.\n',
  );
} finally {
  await runtime.close();
  world.close();
}
