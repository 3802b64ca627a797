import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

let home: string;
let runtime: ToolRuntime;
let audit: MemoryAuditSink;

function put(name: string, text: string): void {
  const file = join(home, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const coder = `# a comment, so that lines and entries differ
name: Coder
toolset:
  - other
  - own
fs_reach:
  read:
    - \${ETHOS_HOME}/gone
    # nothing
    - \${ETHOS_HOME}/notes
  write: ["\${ETHOS_HOME}/notes"]
safety:
  network:
    allow:
      - "*.example.com"
      - api.test
    deny: [bad.example.com]
  quotas:
    per_session:
      files_written: 1
`;

const reviewer = 'name: Reviewer\nfs_reach: {read: ["${ETHOS_HOME}/notes/deep"]}\n';

const agent = defineTool({
  name: 'agent',
  toolset: 'own',
  description: 'Does what it is told.',
  input: z.object({ do: z.enum(['fetch', 'read', 'write', 'kv']), at: z.string() }),
  capabilities: {
    network: { allowedHosts: ['*'] },
    fs_reach: { read: 'from-personality', write: 'from-personality' },
    storage: { scope: 'session', kind: 'kv' },
  },
  async execute({ do: what, at }, { scopedFetch, scopedFs, kvStore }) {
    if (what === 'fetch') return ok(await (await scopedFetch.fetch(at)).text());
    if (what === 'read') return ok(await scopedFs.read(at));
    if (what === 'write') await scopedFs.write(at, 'x');
    else await kvStore.get(at);
    return ok('done');
  },
});

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'lines-')));
  put('personalities/coder/config.yaml', coder);
  put('personalities/reviewer/config.yaml', reviewer);
  put('notes/deep/a.txt', 'deep');
  audit = new MemoryAuditSink();
  runtime = await createToolRuntime({
    home,
    personality: 'coder',
    tools: [agent],
    audit,
    fetch: async () => new Response('fine'),
    lookup: async (host) => [{ address: host.startsWith('in.') ? '10.0.0.8' : '93.184.216.34' }],
  });
});
afterEach(async () => {
  await runtime.close();
  rmSync(home, { recursive: true, force: true });
});

async function linesOf(what: string, at: string, personality = 'coder') {
  await runtime.execute([{ toolCallId: 'c', name: 'agent', args: { do: what, at } }], {
    personality,
    protections: 'none',
  });
  return audit.events.splice(0).map(({ decision, why }) => [decision, why?.policy]);
}
const line = (number: number, id = 'coder') => `personalities/${id}/config.yaml:${number}`;

describe('the line of a personality', () => {
  it.each([
    ['fetch', 'https://a.example.com/', 'allowed', line(15)],
    ['fetch', 'https://api.test/', 'allowed', line(16)],
    ['fetch', 'https://bad.example.com/', 'denied', line(17)],
    ['kv', 'key', 'allowed', line(5)],
  ])('of %s %s, which is %s', async (what, at, decision, where) => {
    expect(await linesOf(what, at)).toEqual([[decision, [where]]]);
  });

  it('is that of the folder, of the list that has none, and of the cap that is used up', async () => {
    const note = join(home, 'notes', 'deep', 'a.txt');
    expect(await linesOf('read', note)).toEqual([['allowed', [line(10)]]]);
    expect(await linesOf('read', join(home, 'other'))).toEqual([['denied', [line(7)]]]);
    const session = runtime.session('s');
    for (const _ of 'ab') {
      await session.execute([
        { toolCallId: 'c', name: 'agent', args: { do: 'write', at: join(home, 'notes', 'b') } },
      ]);
    }
    expect(audit.events.map(({ decision, why }) => [decision, why?.policy])).toEqual([
      ['allowed', [line(11)]],
      ['denied', [line(20)]],
    ]);
  });

  it('is one of each, of what two allow together', async () => {
    const note = join(home, 'notes', 'deep', 'a.txt');
    expect(await linesOf('read', note, 'coder/reviewer')).toEqual([
      ['allowed', [line(10), line(2, 'reviewer')]],
    ]);
  });

  it('is also that of allow_private_urls, of an access that nothing else opens', async () => {
    put(
      'personalities/insider/config.yaml',
      `name: Insider
safety:
  network:
    allow: ["*", 10.0.0.9]
    allow_private_urls: true
`,
    );
    put('personalities/guest/config.yaml', 'name: Guest\nsafety: {network: {allow: ["*"]}}\n');
    const both = [line(4, 'insider'), line(5, 'insider')];
    expect(await linesOf('fetch', 'https://10.0.0.8/', 'insider')).toEqual([['allowed', both]]);
    expect(await linesOf('fetch', 'https://in.test/', 'insider')).toEqual([['allowed', both]]);
    // The host is public, and the operator has named the address.
    for (const at of ['https://out.test/', 'https://10.0.0.9/']) {
      expect(await linesOf('fetch', at, 'insider')).toEqual([['allowed', [line(4, 'insider')]]]);
    }
    const [[decision, where] = []] = await linesOf('fetch', 'https://in.test/', 'insider/guest');
    expect([decision, where]).not.toContain(line(5, 'insider'));
    expect(decision).toBe('denied');
  });

  it('follows the file, also where only a line was put before it', async () => {
    const at = 'https://api.test/';
    expect(await linesOf('fetch', at)).toEqual([['allowed', [line(16)]]]);
    put('personalities/coder/config.yaml', `# one more\n${coder}`);
    expect(await linesOf('fetch', at)).toEqual([['allowed', [line(17)]]]);
  });
});
