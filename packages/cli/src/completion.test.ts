import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCliHome } from './fixtures/cli-home.js';

// Only in a long run: starting a shell takes a second, and the scripts seldom change.
const canRun = (shell: string) =>
  isLongRun() && spawnSync(shell, ['--version']).error === undefined;

let world: ReturnType<typeof openCliHome>;
beforeEach(() => {
  world = openCliHome();
});
afterEach(() => world.remove());

async function writeScript(shell: string): Promise<string> {
  world.write('completion', (await world.run(['completion', shell])).out);
  return join(world.cwd, 'completion');
}

describe.runIf(canRun('fish'))('completion in fish', () => {
  it.each([
    ['ethosagent au', ['audit']],
    ['ethosagent audit ', ['grep', 'show', 'tail', 'verify']],
    ['ethosagent --home x audit ve', ['verify']],
    ['ethosagent secrets ro', ['rotate']],
    // The names of secrets are not completed.
    ['ethosagent secrets rotate ro', []],
    ['ethosagent call read_file --dry', ['--dry-run']],
    ['ethosagent approvals show --se', ['--session']],
  ])('of %j gives %j', async (typed, expected) => {
    const script = await writeScript('fish');
    const said = execFileSync(
      'fish',
      ['--no-config', '-c', `source '${script}'; complete -C'${typed}'`],
      { encoding: 'utf8', cwd: world.cwd },
    );
    const words = said.split('\n').map((line) => line.split('\t')[0]);
    expect(words.filter((word) => word !== '')).toEqual(expected);
  });
});

/** Types into its own zsh, and prints what is there after the key Tab. */
const TYPIST = `
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell 'autoload -Uz compinit; compinit -u -D; source $SCRIPT
press() { zle expand-or-complete; print -r -- "GO""T:$BUFFER:" }
zle -N press; bindkey "^X" press'
zpty -w -n shell "$TYPED"$'\\x18'
zpty -r shell seen '*GOT:*:'
print -r -- "$seen"
`;

describe.runIf(canRun('zsh'))('completion in zsh', () => {
  it.each([
    ['ethosagent aud', 'ethosagent audit '],
    ['ethosagent audit ver', 'ethosagent audit verify '],
    ['ethosagent --home x sessions exp', 'ethosagent --home x sessions export '],
    ['ethosagent call read_file --dry', 'ethosagent call read_file --dry-run '],
  ])('makes %j to %j', async (typed, expected) => {
    const said = execFileSync('zsh', ['-f', '-c', TYPIST], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        HOME: world.cwd,
        SCRIPT: await writeScript('zsh'),
        TYPED: typed,
      },
    });
    expect(/GOT:(.*):/.exec(said.slice(said.lastIndexOf('GOT:')))?.[1]).toBe(expected);
  });
});
