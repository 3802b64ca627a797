import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { countTries, isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { EXACT_LINES } from './fixtures/exact-lines.js';
import { createTerminalWorld } from './fixtures/terminal-world.js';

const settings = {
  terminal: {
    policy: {
      shell: false,
      rules: [
        { command: 'printf', decision: 'allow' },
        { command: 'sleep', decision: 'allow' },
        { command: 'no-such-program', decision: 'allow' },
        { command: '-x', decision: 'allow' },
      ],
    },
  },
};

describe('terminal without a shell', () => {
  it('runs the very words', async () => {
    const world = createTerminalWorld({ settings });
    const words = [
      '$(echo x)',
      '`y`',
      '$HOME',
      '*',
      '~',
      'a b',
      ';',
      '"',
      "it'\\''s",
      '',
      '-n',
      'é',
    ];
    const command = `printf '[%s]' ${words.map((word) => `'${word}'`).join(' ')}`;
    const { stdout } = structuredOf(await world.run('terminal', { command }));
    expect(stdout).toBe('[$(echo x)][`y`][$HOME][*][~][a b][;]["][it\'s][][-n][é]');
  });

  it('tells that a program is not there', async () => {
    const world = createTerminalWorld({ settings });
    expect(textOf(await world.run('terminal', { command: 'no-such-program' }))).toMatch(
      /^exit code 127 /,
    );
    expect(textOf(await world.run('terminal', { command: '-x' }))).toMatch(/^exit code 127 /);
  });

  it.each([
    'printf x | printf y',
    'printf $HOME',
    'printf x; rm y',
    'X=1 printf x',
    'printf x > y',
  ])('refuses %s', async (command) => {
    const world = createTerminalWorld({ settings });
    const error = errorOf(await world.run('terminal', { command }));
    expect(error).toContain('write one command of plain words');
    expect(world.approvals).toEqual([]);
    expect(errorOf(await world.run('terminal_start', { command }))).toContain('plain words');
  });

  it.each([
    ['terminal_start', { command: 'sleep 60', pty: true }],
    ['terminal_send_keys', { id: 'p1', text: 'rm y' }],
  ])('gives %s no program to type into', async (tool, args) => {
    const world = createTerminalWorld({ settings });
    expect(await world.run(tool, args)).toMatchObject({
      ok: false,
      code: 'not_available',
      error: expect.stringContaining('without a shell'),
    });
  });

  it('leaves a command running, and shows it as it was written', async () => {
    const world = createTerminalWorld({ settings });
    const started = structuredOf(await world.run('terminal_start', { command: "sleep '60'" }));
    const listed = textOf(await world.run('terminal_read', {}));
    expect(listed).toContain("is running: sleep '60'");
    await world.run('terminal_stop', { id: started.id });
  });

  it('runs exactly what is allowed, or nothing, whatever stands in the line', async (context) => {
    const world = createTerminalWorld({
      settings: {
        terminal: { policy: { shell: false, rules: [{ command: 'show', decision: 'allow' }] } },
      },
    });
    const shown = join(world.dir, 'shown');
    const program = join(world.base, 'bin', 'show');
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\0' "$0" "$@" >> '${shown}'\n`);
    chmodSync(program, 0o755);
    // What runs costs some processes; the check tries every fourth of it.
    const lines = EXACT_LINES.filter(
      ([, ran], index) => isLongRun() || ran === null || index % 4 === 0,
    );
    const found: [line: string, ran: string[] | null][] = [];
    for (const [line] of lines) {
      const { ok } = await world.run('terminal', { command: line });
      const words = existsSync(shown) ? readFileSync(shown, 'utf8').split('\0').slice(1, -1) : null;
      rmSync(shown, { force: true });
      found.push([ok === (words !== null) ? line : `${line} is ok: ${ok}`, words]);
    }
    expect(found).toEqual(lines);
    countTries(context, 'lines without a shell', lines.length);
    // It causes neither a file nor a question.
    expect(readdirSync(world.dir)).toEqual([]);
    expect(world.approvals).toEqual([]);
  });
});
