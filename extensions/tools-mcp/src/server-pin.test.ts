import { expect, it } from 'vitest';
import { parseMcpConfig } from './config.js';
import { serverPin } from './server-pin.js';

async function pinOf(entry: object): Promise<string> {
  const [server] = parseMcpConfig({ mcpServers: { s: entry } }).servers;
  if (server === undefined) throw new Error('the file has no server');
  return (await serverPin(server)).hash;
}

const PROGRAM = { command: 'node', args: ['a.js'], env: { KEY: '${env:KEY}' }, cwd: '/srv' };
const REMOTE = { type: 'http', url: 'https://a.test/mcp', headers: { key: '${env:KEY}' } };

it.each<[what: string, before: object, change: object]>([
  ['another command', PROGRAM, { command: 'sh' }],
  ['other arguments', PROGRAM, { args: ['b.js'] }],
  ['one more argument', PROGRAM, { args: ['a.js', ''] }],
  ['another variable', PROGRAM, { env: { KEY: '${env:KEY}', NODE_OPTIONS: '' } }],
  ['another text of a variable', PROGRAM, { env: { KEY: '${env:OTHER}' } }],
  ['another folder', PROGRAM, { cwd: '/tmp' }],
  ['an address', PROGRAM, { ...REMOTE, command: undefined, args: undefined, env: undefined }],
  ['another address', REMOTE, { url: 'https://b.test/mcp' }],
  ['another transport', REMOTE, { type: 'sse' }],
  ['another header', REMOTE, { headers: { key: '${env:KEY}', host: 'b.test' } }],
  ['another text of a header', REMOTE, { headers: { key: '${env:OTHER}' } }],
])('a server that changes into %s has another pin', async (_what, before, change) => {
  expect(await pinOf({ ...before, ...change })).not.toBe(await pinOf(before));
  expect(await pinOf({ ...before })).toBe(await pinOf(before));
});
