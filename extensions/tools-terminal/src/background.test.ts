import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { describe, expect, it } from 'vitest';
import { createTerminalWorld, type TerminalWorld } from './fixtures/terminal-world.js';

async function start(world: TerminalWorld, command: string): Promise<string> {
  const id = structuredOf(await world.run('terminal_start', { command })).id;
  return String(id);
}

describe('terminal_start, terminal_read and terminal_stop', () => {
  it('leave a command running, read what came since, and end it', async () => {
    const world = createTerminalWorld();
    const id = await start(
      world,
      'echo $$ > pid; echo one; until [ -e go ]; do sleep 0.01; done; echo two >&2; sleep 300',
    );
    const first = await world.run('terminal_read', { id, wait_ms: 30_000 });
    expect(textOf(first)).toMatch(/ is running; read on from cursor \d+\none$/);
    const { cursor } = structuredOf(first);
    world.put('go', '');
    const second = await world.run('terminal_read', { id, cursor, wait_ms: 30_000 });
    expect(textOf(second)).toMatch(/\n\[stderr\]\ntwo$/);
    expect(structuredOf(second)).toMatchObject({ state: 'running', stdout: '', stderr: 'two\n' });
    const nothing = await world.run('terminal_read', { id, cursor: structuredOf(second).cursor });
    expect(textOf(nothing)).toMatch(/\n\(nothing new\)$/);
    const pid = world.get('pid').trim();
    expect(textOf(await world.run('terminal_stop', { id }))).toMatch(
      /was ended by SIGTERM|has ended/,
    );
    while (existsSync(`/proc/${pid}`)) await sleep(10);
    expect(textOf(await world.run('terminal_read', { id }))).toContain('one');
  });

  it('wait for a text, also one that is coloured, cut in two, or without the end of its line', async () => {
    const world = createTerminalWorld();
    const id = await start(
      world,
      "echo one; until [ -e go ]; do sleep 0.01; done; printf 'list'; sleep 0.05; printf '\\033[1men\\033[0ming on 80'; sleep 300",
    );
    const early = await world.run('terminal_read', { id, until: 'listening', wait_ms: 1 });
    expect(structuredOf(early)).toMatchObject({ state: 'running', saw: false });
    expect(textOf(early)).toContain('[it did not write "listening"]');
    world.put('go', '');
    const found = await world.run('terminal_read', { id, until: 'listening on', wait_ms: 600_000 });
    expect(structuredOf(found)).toMatchObject({ state: 'running', saw: true });
    expect(textOf(found)).toMatch(/\n\[it wrote "listening on"\]\none\nlistening on/);
    await world.run('terminal_stop', { id });
  });

  it('wait for a text no longer than until the end', async () => {
    const world = createTerminalWorld();
    const id = await start(world, 'echo bye; exit 4');
    const result = await world.run('terminal_read', { id, until: 'hello', wait_ms: 600_000 });
    expect(structuredOf(result)).toMatchObject({ state: 'ended', saw: false, stdout: 'bye\n' });
  });

  it('tell the exit code of what ended by itself', async () => {
    const world = createTerminalWorld();
    const id = await start(world, 'echo bye; exit 4');
    let state: unknown = 'running';
    let cursor: unknown = 0;
    let facts: Record<string, unknown> = {};
    while (state === 'running') {
      facts = structuredOf(await world.run('terminal_read', { id, cursor, wait_ms: 5000 }));
      ({ state, cursor } = facts);
    }
    expect(facts).toMatchObject({ state: 'ended', exit_code: 4, command: 'echo bye; exit 4' });
    expect(textOf(await world.run('terminal_read', {}))).toBe(
      `${id} has ended with exit code 4: echo bye; exit 4`,
    );
  });

  it('show of a command that prints lines like theirs that it did', async () => {
    const world = createTerminalWorld();
    world.put(
      'lines',
      '[stderr]\nbg-1 has ended with exit code 0\n(nothing new)\n[it wrote "x"]\n',
    );
    const id = await start(world, 'cat lines');
    await world.run('terminal_read', { id, wait_ms: 30_000 });
    expect(
      textOf(await world.run('terminal_read', { id }))
        .split('\n')
        .slice(1),
    ).toEqual([
      '\\[stderr]',
      '\\bg-1 has ended with exit code 0',
      '\\(nothing new)',
      '\\[it wrote "x"]',
    ]);
  });

  it('list nothing where nothing was started, and nothing of another session', async () => {
    const world = createTerminalWorld();
    expect(await world.run('terminal_read', {})).toMatchObject({
      value: 'No command of terminal_start is there.',
      untrusted: false,
    });
    const id = await start(world, 'sleep 300');
    const listed = await world.run('terminal_read', {});
    expect(textOf(listed)).toContain(id);
    expect(listed).not.toHaveProperty('untrusted');
    expect(textOf(await world.run('terminal_read', {}, { sessionId: 'other' }))).toBe(
      'No command of terminal_start is there.',
    );
    expect(await world.run('terminal_stop', { id }, { sessionId: 'other' })).toMatchObject({
      code: 'execution_failed',
      cause: 'PROCESS_NOT_FOUND',
    });
  });

  it('keep bounded memory of endless output', async () => {
    const world = createTerminalWorld();
    const before = process.memoryUsage().rss;
    const id = await start(
      world,
      'yes 0123456789012345678901234567890123456789 | head -c 200000000 | dd bs=64k iflag=fullblock status=none; echo end',
    );
    let facts: Record<string, unknown> = { state: 'running', cursor: 0 };
    while (facts.state === 'running') {
      await sleep(100);
      facts = structuredOf(await world.run('terminal_read', { id, cursor: facts.cursor }));
    }
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(300);
  });

  it('end with the session', async () => {
    const world = createTerminalWorld();
    await start(world, 'echo $$ > pid; sleep 300 & wait');
    while (!world.has('pid') || world.get('pid') === '') await sleep(10);
    await world.registry.endSession('s');
    const pid = world.get('pid').trim();
    while (existsSync(`/proc/${pid}`)) await sleep(10);
  });

  it('are limited in number', async () => {
    const world = createTerminalWorld({ options: { maxBackgroundProcesses: 2 } });
    await start(world, 'sleep 300');
    await start(world, 'sleep 300');
    const third = await world.run('terminal_start', { command: 'sleep 300' });
    expect(third).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(third.ok ? '' : third.error).toMatch(/^TOO_MANY_PROCESSES: .*terminal_stop/);
  });

  const settings = {
    terminal: {
      policy: {
        rules: [
          { command: 'touch', decision: 'deny' },
          { command: 'sleep', decision: 'ask' },
        ],
      },
    },
  };
  const denials: [what: string, name: string, args: object, code: string, error: RegExp][] = [
    [
      'what a rule denies',
      'terminal_start',
      { command: 'ls | xargs touch' },
      'execution_failed',
      /rule touch/,
    ],
    ['what nobody approves', 'terminal_start', { command: 'sleep 1' }, 'not_available', /approv/],
    [
      'a folder out of reach',
      'terminal_start',
      { command: 'ls', cwd: '..' },
      'execution_failed',
      /PATH_NOT_REACHABLE/,
    ],
    ['no command', 'terminal_start', {}, 'input_invalid', /command/],
    [
      'an id that is not known',
      'terminal_read',
      { id: 'nope' },
      'execution_failed',
      /PROCESS_NOT_FOUND/,
    ],
    [
      'an id that is not known',
      'terminal_stop',
      { id: 'nope' },
      'execution_failed',
      /PROCESS_NOT_FOUND/,
    ],
    ['a cursor below 0', 'terminal_read', { id: 'x', cursor: -1 }, 'input_invalid', /cursor/],
    ['no id', 'terminal_stop', {}, 'input_invalid', /id/],
  ];
  it.each(denials)('refuse %s: %s %j', async (_, name, args, code, error) => {
    const result = await createTerminalWorld({ settings, approve: false }).run(name, args);
    expect(result).toMatchObject({ ok: false, code });
    expect(result.ok ? '' : result.error).toMatch(error);
  });

  it('do nothing on a dry run', async () => {
    const world = createTerminalWorld();
    expect(
      textOf(await world.run('terminal_start', { command: 'touch made' }, { dryRun: true })),
    ).toMatch(/^\[dry-run\] bash would be started in /);
    expect(world.has('made')).toBe(false);
    const id = await start(world, 'sleep 300');
    expect(textOf(await world.run('terminal_stop', { id }, { dryRun: true }))).toBe(
      `[dry-run] ${id} would be ended.`,
    );
    expect(textOf(await world.run('terminal_read', {}))).toContain('is running');
  });
});
