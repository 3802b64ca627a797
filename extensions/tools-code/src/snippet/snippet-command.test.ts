import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScopedProcessImpl } from '@ethosagent/core/scoped';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LANGUAGES } from './languages.js';
import { shellArguments, starterArguments } from './snippet-command.js';

const LONG = `${'ä😀"$`\\\n'.repeat(5_000)}end`;

/** An interpreter outside the system's folders, as version managers install them. */
function installedElsewhere(binary: string): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'interpreter-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  mkdirSync(join(base, 'bin'));
  const copy = join(base, 'bin', binary);
  cpSync(realpathSync(join('/usr/bin', binary)), copy);
  return copy;
}

const sandboxed = (binary: string) =>
  new ScopedProcessImpl(new Set([binary]), {
    baseEnv: { PATH: '/usr/bin:/bin' },
    policy: { sandbox: 'required' },
    reach: { roots: [], denies: () => false },
  });

const ECHO = {
  python: 'import sys\nsys.stdout.write(sys.stdin.read())\nsys.exit(7)',
  javascript: 'process.stdout.write(require("fs").readFileSync(0)); process.exitCode = 7;',
};

describe('starterArguments', () => {
  it.each(['python', 'javascript'] as const)('run a snippet of %s from elsewhere', async (name) => {
    const { binary, starter = [] } = LANGUAGES[name];
    const path = installedElsewhere(binary);
    const args = starterArguments(starter, LANGUAGES[name], { code: ECHO[name], stdin: LONG });
    const { exitCode, stdout } = await sandboxed(path).spawn(path, args);
    expect(stdout).toBe(LONG);
    expect(exitCode).toBe(7);
  });
});

describe('shellArguments', () => {
  it('say what is missing, and run nothing', async () => {
    const command = { ...LANGUAGES.bash, binary: 'nobodys-binary' as 'bash' };
    const args = shellArguments(command, { code: 'echo ran' }, 'it is missing');
    const result = await sandboxed('bash').spawn('bash', args);
    expect(result).toMatchObject({ exitCode: 127, stdout: '', stderr: 'it is missing' });
  });

  it('carry any text, however long', async () => {
    const code = `cat\n: <<'END'\n${LONG}\nEND\nexit 7`;
    const args = shellArguments(LANGUAGES.bash, { code, stdin: LONG }, 'missing');
    const result = await sandboxed('bash').spawn('bash', args);
    expect(result).toEqual({ exitCode: 7, stdout: LONG, stderr: '' });
  });
});
