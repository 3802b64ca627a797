import { join } from 'node:path';
import type { ToolCall } from '@ethosagent/types';
import type { Random } from './random.js';
import type { Servers } from './servers.js';
import type { World } from './world.js';

/** Makes the calls of a batch: honest and hostile ones, in a random order. */
export function createCalls(
  random: Random,
  { world, servers, canary }: { world: World; servers: Servers; canary: string },
): ToolCall[] {
  const { port, canaryOrigin } = servers;
  const at = (path: string) => join(world.work, path);
  const say = `say=${canary}`;
  const urls = [
    ...['fast', 'again', 'flips'].map((host) => `http://${host}.test:${port}/?${say}`),
    ...['slow', 'hang', 'reset', 'half', 'flood', 'out', 'out-by-name', 'loop', 'status'].map(
      (path) => `http://fast.test:${port}/${path}`,
    ),
    canaryOrigin,
    `http://canary.example:${new URL(canaryOrigin).port}/`,
    `http://denied.test:${port}/`,
    `http://nowhere.test:${port}/`,
    'http://169.254.169.254/latest/meta-data',
    `http://2130706434:${new URL(canaryOrigin).port}/`,
    'file:///etc/passwd',
    'not a url',
  ];
  // All writes aim at the temporary world of the soak. A failing guard then harms nothing else.
  const hidden = [
    ...['link.txt', 'link/canary.txt', '../workshop/canary.txt', '../home/state.sqlite'].map(at),
    join(world.home, 'personalities', 'open', 'config.yaml'),
    join(world.home, 'audit', 'audit.jsonl'),
  ];
  const paths = [
    ...hidden,
    ...['notes.txt', 'sub', 'none'].map(at),
    '/proc/self/environ',
    '/etc/shadow',
    'a\0b',
    '',
  ];
  const file = () => at(`sub/file-${random.between(0, 9)}`);
  const kinds: (() => [name: string, args: unknown])[] = [
    () => ['remembers', { canary, key: String(random.between(0, 9)) }],
    () => ['fetches', { url: random.pick(urls) }],
    () => ['fetches', { url: `http://fast.test:${port}/?${say}` }],
    () => ['ignores_bodies', { url: random.pick(urls) }],
    () => ['reads', { path: random.pick(paths) }],
    () => ['read_file', { path: random.pick(paths) }],
    () => ['write_file', { path: file(), content: 'written\n' }],
    () => ['write_file', { path: random.pick(hidden), content: 'pwned' }],
    () => ['search_files', { pattern: 'outside', path: world.work }],
    () => ['writes', { path: file(), canary: 'file' }],
    () => ['writes', { path: at('link/new'), canary: 'pwned' }],
    () => ['leaks', { how: random.pick(['value', 'throw', 'structured']) }],
    () => [random.pick(['guesses', 'asks', 'hangs', 'chatters', 'echoes']), { canary }],
    () => [random.pick(['sleeps', 'lingers', 'prints', 'comes_late']), { canary }],
    () => ['throws', { what: random.pick(['text', 'nothing', 'error']) }],
    () => ['returns', { what: random.pick(['number', 'getter', 'large', 'thenable', 'none']) }],
    () => [random.pick(['unknown', '__proto__', 'mcp__x__y']), { __proto__: { polluted: true } }],
    () => ['read_file', random.pick([{ path: 7 }, null, 7, 'text', []])],
  ];
  return Array.from({ length: random.between(0, 8) }, (_, index) => {
    const [name, args] = random.pick(kinds)();
    return { toolCallId: `call-${index}`, name, args };
  });
}
