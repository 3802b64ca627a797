import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCheck } from '@ethosagent/test-support';
import { afterAll, describe, expect, it } from 'vitest';
import { EVALUATED, HARMLESS_ARITHMETIC } from '../fixtures/evaluated-text.js';
import { judgeCommand } from './judge-command.js';
import { commandPolicySchema } from './policy-settings.js';

const HERE = { workingDir: '/w/project' };
const DEFAULT = commandPolicySchema.parse({});
const BUILTINS =
  ': [ bash builtin cd command compgen declare echo env eval exec export f g getopts let local mapfile mkdir mktemp printf read readonly set sleep test typeset unset wait wc';
/** Each command is allowed, so only what bash does with their words can be refused. */
const LISTED = commandPolicySchema.parse({
  default: 'deny',
  rules: BUILTINS.split(' ').map((command) => ({ command, decision: 'allow' })),
});

const dir = mkdtempSync(join(tmpdir(), 'evaluated-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const filled = (line: string) => line.replaceAll('PAY', 'a[$(>hit)]');

/** Whether bash itself writes the file. */
function bashRuns(line: string): boolean {
  const cwd = mkdtempSync(join(dir, 'cwd-'));
  spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', line], {
    cwd,
    env: { PATH: '/usr/bin:/bin' },
    stdio: 'ignore',
  });
  return existsSync(join(cwd, 'hit')) || existsSync(join(cwd, 'a[$(>hit)]', 'hit'));
}

describe('text that bash evaluates', () => {
  it.each(EVALUATED)('is not allowed by the built-in rules: %s', (line) => {
    expect(judgeCommand(filled(line), DEFAULT, HERE).decision).not.toBe('allow');
  });

  it.each(EVALUATED)('is not allowed by rules for the commands around it: %s', (line) => {
    expect(judgeCommand(filled(line), LISTED, HERE).decision).not.toBe('allow');
  });

  it.each(inCheck(EVALUATED, (line) => /^(for RANDOM|i='PAY'; \[\[|f\(\) \{ local n)/.test(line)))(
    'is run by bash: %s',
    (line) => {
      expect(bashRuns(filled(line))).toBe(true);
    },
  );

  it.each(HARMLESS_ARITHMETIC)('is allowed where it is a number: %s', (line) => {
    expect(judgeCommand(line, DEFAULT, HERE)).toEqual({ decision: 'allow', findings: [] });
  });
});
