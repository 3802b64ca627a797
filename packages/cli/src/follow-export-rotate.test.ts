import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JsonlAuditSink } from '@ethosagent/audit';
import { isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCliHome } from './fixtures/cli-home.js';

let world: ReturnType<typeof openCliHome>;
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml':
      'name: Coder\nfs_reach: { read: ["${CWD}/notes"] }\nsafety: { network: { allow: [api.exa.ai] } }\n',
    '.ethos/personalities/clerk/config.yaml': 'name: Clerk\ntoolset: [read_file]\n',
    '.ethos/ethos.config.mjs': `export default { personality: 'coder', tools: ['read_file', {
      name: 'search', description: 'Searches.', schema: { type: 'object', properties: {} },
      capabilities: { secrets: ['providers/exa/*'], network: { allowedHosts: ['api.exa.ai'] } },
      async execute() { return { ok: true, value: '' }; },
    }] };`,
    'notes/a.txt': 'hello',
  });
});
afterEach(() => world.remove());

const event = (target: string) => ({
  time: new Date().toISOString(),
  sessionId: 's',
  toolName: 'read_file',
  toolCallId: 'c',
  capability: 'fs_reach.read' as const,
  operation: 'read',
  target,
  decision: 'allowed' as const,
  reason: 'x',
});

describe('audit tail --follow', () => {
  /** Follows the log. `until` resolves when a text was written. */
  const follow = (lines: string) => {
    const controller = new AbortController();
    let shown = '';
    let wake = () => {};
    const run = world.run(['audit', 'tail', '--follow', '--lines', lines], {
      signal: controller.signal,
      out: (text) => {
        shown += text;
        wake();
      },
    });
    return {
      run,
      end: () => controller.abort(),
      shown: () => shown,
      async until(text: string) {
        while (!shown.includes(text)) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
    };
  };

  it('shows what is written from then on, each event once, over rotations, until the signal', async () => {
    mkdirSync(join(world.home, 'audit'), { mode: 0o700 });
    const path = join(world.home, 'audit', 'audit.jsonl');
    const sink = new JsonlAuditSink({ path, maxBytes: 2_000, maxFiles: 1_000 });
    for (const target of ['/old-1', '/old-2', '/old-3']) sink.record(event(target));
    const followed = follow('2');
    await followed.until('/old-3');
    expect(followed.shown()).not.toContain('/old-1');
    const targets = Array.from({ length: 30 }, (_, index) => `/new-${index};`);
    for (const target of targets) {
      sink.record(event(target));
      if (target === '/new-9;') await followed.until(target);
    }
    await followed.until('/new-29;');
    followed.end();
    expect((await followed.run).code).toBe(0);
    const shown = [...followed.shown().matchAll(/\/new-\d+;/g)].map(([target]) => target);
    expect(shown).toEqual(targets);
    sink.close();
  });

  it.runIf(isLongRun())('waits for a log that begins later', async () => {
    const followed = follow('5');
    await world.run(['call', 'read_file', '{"path":"notes/a.txt"}']);
    await followed.until('call ok');
    followed.end();
    const { code, err } = await followed.run;
    expect([code, err]).toEqual([0, expect.stringContaining('yet')]);
  });

  it('ends where the signal has fired already', async () => {
    const signal = AbortSignal.abort();
    expect((await world.run(['audit', 'tail', '--follow'], { signal })).code).toBe(0);
  });
});

describe('sessions export', () => {
  const READ = 'read_file {"path":"notes/a.txt"}';

  it('writes all that is stored as JSON lines', async () => {
    await world.run(['run', READ, '--session', 's']);
    const { code, out } = await world.run(['sessions', 'export', 's', '--format', 'jsonl']);
    const [first, ...messages] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(first).toMatchObject({ type: 'session', id: 's', personalityId: 'coder' });
    expect(messages).toHaveLength(first.messageCount);
    expect(messages.map(({ role }) => role)).toEqual(expect.arrayContaining(['user', 'tool']));
    expect((await world.run(['sessions', 'export', 's', '--json'])).out).toBe(out);
  });

  it('writes Markdown in which no text of a message is markup', async () => {
    const evil = '```\n![x](https://evil.example/?q)\n<img src=x>\n````\n\u001b[2J';
    world.write('notes/a.txt', evil);
    await world.run(['run', READ, '--session', 's']);
    const { out } = await world.run(['sessions', 'export', 's']);
    expect(out).toMatch(/^# Session `s`\n/);
    expect(out).not.toMatch(/[^\n\P{Cc}]/u);
    let fence: string | undefined;
    const outside: string[] = [];
    for (const line of out.split('\n')) {
      const [ticks] = /^`{3,}/.exec(line) ?? [];
      if (fence === undefined && ticks !== undefined) fence = ticks;
      else if (fence === line) fence = undefined;
      else if (fence === undefined) outside.push(line);
    }
    expect(fence).toBeUndefined();
    expect(outside.join('\n')).not.toContain('evil');
    expect(out).toContain('evil.example');
  });

  it('needs no tools, as list and show do: their packages may be gone', async () => {
    await world.run(['run', READ, '--session', 's']);
    const config = `export default { personality: 'coder', tools: ['read_file', 'gone'] };`;
    const home = join(world.cwd, 'copy');
    cpSync(world.home, home, { recursive: true });
    world.write('copy/ethos.config.mjs', config);
    expect((await world.run(['tools', '--home', home])).code).toBe(2);
    for (const command of [['list'], ['show', 's'], ['export', 's']]) {
      const { code, out } = await world.run(['sessions', ...command, '--home', home]);
      expect([command, code, out]).toEqual([command, 0, expect.stringContaining('s')]);
    }
  });

  it('refuses a session that is not there, and another format', async () => {
    expect((await world.run(['sessions', 'export', 'nothing'])).code).toBe(2);
    expect((await world.run(['sessions', 'export', 's', '--format', 'pdf'])).code).toBe(2);
  });
});

describe('secrets rotate', () => {
  const REF = 'providers/exa/apiKey';
  const given = (value: string) => ({ readInput: async () => value });

  it('replaces a value, tells who uses it, and shows neither', async () => {
    await world.run(['secrets', 'set', REF], given('old-value'));
    const { code, out, err } = await world.run(
      ['secrets', 'rotate', REF, '--json'],
      given('new-value'),
    );
    expect(code).toBe(0);
    expect(JSON.parse(out).users).toEqual([{ personality: 'coder', tool: 'search' }]);
    expect(readFileSync(join(world.home, 'secrets', REF), 'utf8')).toBe('new-value\n');
    expect(`${out}${err}`).not.toMatch(/old-value|new-value/);
  });

  it('says which personality can not be read', async () => {
    await world.run(['secrets', 'set', REF], given('old-value'));
    world.write('.ethos/personalities/clerk/config.yaml', 'name: [\n');
    const { code, err } = await world.run(['secrets', 'rotate', REF], given('new-value'));
    expect([code, err]).toEqual([1, expect.stringContaining('clerk')]);
  });

  it.each([
    ['a secret that is not there', 'OTHER', 'new-value'],
    ['an empty value', REF, ''],
    ['the value that it has', REF, 'old-value\n'],
    ['an invalid name', '../x', 'v'],
  ])('refuses %s', async (_, ref, value) => {
    await world.run(['secrets', 'set', REF], given('old-value'));
    const { code, out, err } = await world.run(['secrets', 'rotate', ref], given(value));
    expect([code, out]).toEqual([2, '']);
    expect(err).not.toContain('old-value');
    expect(readFileSync(join(world.home, 'secrets', REF), 'utf8')).toBe('old-value\n');
  });
});
