import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { effectsOf } from '@ethosagent/policy';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createTerminalWorld, type TerminalWorldOptions } from './fixtures/terminal-world.js';
import { KEY_NAME, keyText } from './keys.js';
import { screenOf } from './output/screen.js';
import { createTerminalSendKeysTool } from './terminal-send-keys.js';
import { createTerminalStartTool } from './terminal-start.js';

const ESC = '\u001b';
const LONG = 600_000;
const NEVER = new AbortController().signal;

async function open(command: string, options: TerminalWorldOptions = {}) {
  const world = createTerminalWorld(options);
  const started = await world.run('terminal_start', { command, pty: true });
  const id = String(structuredOf(started).id);
  const until = (text: string) =>
    world.run('terminal_read', { id, until: text, wait_ms: LONG, screen: true });
  return { world, id, until };
}

const ASKS =
  'stty size; printf "name? "; read -r x; echo "hello $x"; test -t 0 && echo a tty; read -r y';

describe('a command in a terminal', () => {
  const places: [string, TerminalWorldOptions][] = [
    ['as it is', {}],
    ['in a sandbox', { backends: { personalityProcess: { sandbox: 'required' } } }],
  ];
  it.each(places)('shows its screen and takes keys, %s', async (_name, options) => {
    const { world, id, until } = await open(ASKS, options);
    expect(textOf(await until('name?'))).toMatch(/row 2, column 7\]\n30 100\nname\? $/);
    await world.run('terminal_send_keys', { id, text: 'bob', keys: ['Enter'] });
    expect(textOf(await until('a tty'))).toContain('name? bob\nhello bob\na tty');
    expect(world.approvals).toEqual([
      { reason: expect.stringContaining(`types into ${id}: "bob" Enter`), args: expect.anything() },
    ]);
    const list = textOf(await world.run('terminal_read', {}));
    expect(list).toContain(`${id} is running: ${ASKS.slice(0, 40)}`);
  });

  it('ends with its session, though it left its group and hears no hang-up', async () => {
    const program = 'trap "" HUP TERM INT; echo $$ > pid; echo ready; while :; do sleep 0.05; done';
    const { world, until } = await open(program);
    await until('ready');
    const pid = world.get('pid').trim();
    await world.registry.endAllSessions();
    while (existsSync(`/proc/${pid}`)) await sleep(10);
  });

  it('tells its exit code', async () => {
    const { world, id } = await open('exit 5');
    const result = await world.run('terminal_read', { id, until: 'nothing', wait_ms: LONG });
    expect(structuredOf(result)).toMatchObject({ state: 'ended', exit_code: 5 });
  });

  it.runIf(isLongRun())(
    'without the program that opens terminals says what to install',
    async () => {
      const world = createTerminalWorld();
      const path = `${world.base}/bin`;
      const bare = createTerminalWorld({
        backends: { processEnv: { PATH: path, HOME: world.base } },
      });
      world.put('../bin/bash', '#!/bin/sh\nexec /bin/bash "$@"', 0o755);
      const started = await bare.run('terminal_start', { command: 'true', pty: true });
      const { id } = structuredOf(started);
      const result = await bare.run('terminal_read', { id, until: 'util-linux', wait_ms: LONG });
      expect(structuredOf(result)).toMatchObject({ saw: true });
    },
  );
});

describe('keys', () => {
  it.each([
    ['nobody is there to approve', { approve: 'none' as const }],
    ['the user says no', { approve: false }],
  ])('are not typed where %s, whatever the policy allows', async (_name, { approve }) => {
    const policy = { default: 'allow' };
    const settings = { terminal: { policy } };
    const { world, id, until } = await open('echo ready; exec bash --norc', { approve, settings });
    await until('ready');
    const keys = { id, text: 'touch typed', keys: ['Enter'] };
    const result = await world.run('terminal_send_keys', keys);
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
    expect(world.has('typed')).toBe(false);
  });

  it('have the effects of the command that takes them', () => {
    const [keys, start] = [createTerminalSendKeysTool(), createTerminalStartTool()];
    expect(effectsOf(keys)).toEqual(effectsOf(start));
  });

  it('that are a command which the policy refuses are not typed, whoever approves', async () => {
    const { world, id, until } = await open('echo ready; exec cat');
    await until('ready');
    const keys = { id, text: 'rm -rf /', keys: ['Enter'] };
    const result = await world.run('terminal_send_keys', keys);
    expect(result).toMatchObject({ ok: false, cause: 'BINARY_NOT_ALLOWED' });
    expect(textOf(await until('ready'))).not.toContain('rm');
  });

  it('are not typed on a dry run, which says whether they would be', async () => {
    const { world, id, until } = await open('echo ready; read line; echo "read $line"; exec cat');
    await until('ready');
    const dry = (of: string) =>
      world.run('terminal_send_keys', { id: of, text: 'x', keys: ['Enter'] }, { dryRun: true });
    const result = await dry(id);
    expect(textOf(result)).toBe(
      `[dry-run] "x" Enter would be typed into ${id}; it needs approval.`,
    );
    expect(result).toMatchObject({ untrusted: false });
    expect(errorOf(await dry('bg-9'))).toContain('PROCESS_NOT_FOUND');
    await world.run('terminal_send_keys', { id, text: 'y', keys: ['Enter'] });
    expect(textOf(await until('read '))).toContain('read y');
    await world.run('terminal_stop', { id });
    expect(errorOf(await dry(id))).toContain('PROCESS_ENDED');
  });

  it.each([
    ['a line break', { text: 'a\nb' }],
    ['a carriage return', { text: 'a\r' }],
    ['an escape sequence', { text: `${ESC}[200~` }],
    ['a control of one unit', { text: '\u0085' }],
    ['a line separator', { text: '\u2028' }],
    ['an unknown key', { keys: ['F99'] }],
  ])('with %s are refused', async (_name, args) => {
    const result = await createTerminalWorld().run('terminal_send_keys', { id: 'bg-1', ...args });
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
  });

  it('are not taken by a command without a terminal', async () => {
    const world = createTerminalWorld();
    const { id } = structuredOf(await world.run('terminal_start', { command: 'sleep 300' }));
    const typed = await world.run('terminal_send_keys', { id, text: 'x' });
    expect(errorOf(typed)).toMatch(/PROCESS_ENDED.*pty/s);
    const dry = await world.run('terminal_send_keys', { id, text: 'x' }, { dryRun: true });
    expect(errorOf(dry)).toMatch(/PROCESS_ENDED.*pty/s);
    const screen = await world.run('terminal_read', { id, screen: true });
    expect(screen).toMatchObject({ ok: false, code: 'input_invalid' });
  });

  it('and terminals are none of a personality that has no shell', async () => {
    const policy = { shell: false, default: 'deny', allow: ['cat *'] };
    const settings = { terminal: { policy } };
    const world = createTerminalWorld({ settings });
    for (const [name, args] of [
      ['terminal_start', { command: 'cat x', pty: true }],
      ['terminal_send_keys', { id: 'bg-1', text: 'x' }],
    ] as const) {
      expect(await world.run(name, args)).toMatchObject({ ok: false, code: 'not_available' });
    }
  });

  it.each([
    ['Enter', '\r'],
    ['Ctrl-C', '\u0003'],
    ['Up', `${ESC}[A`],
  ])('%s sends %j', (name, text) => {
    expect(KEY_NAME.test(name)).toBe(true);
    expect(keyText(name)).toBe(text);
  });
});

describe('screenOf', () => {
  it.each([
    ['a title', `${ESC}]0;evil\u0007a`, 'a'],
    ['the clipboard', `${ESC}]52;c;ZXZpbA==\u0007a`, 'a'],
    ['a link', `${ESC}]8;;http://evil\u001b\\a${ESC}]8;;\u001b\\`, 'a'],
    ['questions to the terminal', `${ESC}[6n${ESC}[c${ESC}[>qa`, 'a'],
    ['a device control string', `${ESC}P+q544e\u001b\\a`, 'a'],
    ['colours', `${ESC}[1;31mred${ESC}[0m`, 'red'],
    ['what was written over', 'old\rnew', 'new'],
    ['what was moved to', `${ESC}[2;3Hx`, '\n  x'],
    ['the other screen', `first${ESC}[?1049hsecond`, /second$/],
    ['what turns the direction of text', 'a\u202eb', /^a<U\+202E>b$/],
    ['a sequence that does not end', `a${ESC}]0;b`, 'a'],
  ])('of %s is text alone', async (_name, written, shown) => {
    const { text } = await screenOf(written, NEVER);
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    if (typeof shown === 'string') expect(text).toBe(shown);
    else expect(text).toMatch(shown);
  });

  it.each([...'@AbBCDdEeGILMPSTXZ`'])(
    'ends a sequence with a huge number and %s',
    async (final) => {
      const written = (number: number) =>
        `${'a\n'.repeat(40)}b\u001b[3;3H${ESC}[${number}${final}c`;
      expect(await screenOf(written(2_147_483_647), NEVER)).toEqual(
        await screenOf(written(100), NEVER),
      );
    },
  );

  it('does not set colours, which could take for ever', async () => {
    const { text } = await screenOf(`a${ESC}]4${';0'.repeat(499_000)}\u0007b`, NEVER);
    expect(text).toBe('ab');
  });

  it('lets other work go on while it reads long output, and ends with the call', async () => {
    const call = new AbortController();
    setImmediate(() => call.abort(new Error('the call has ended')));
    await expect(screenOf('a'.repeat(1_000_000), call.signal)).rejects.toThrow(
      'the call has ended',
    );
  });

  it('has lines like those of the tools marked', async () => {
    const { until } = await open('echo "[the screen; the cursor is in row 9"; sleep 300');
    expect(textOf(await until('row 9'))).toContain('\n\\[the screen; the cursor is in row 9');
  });
});
