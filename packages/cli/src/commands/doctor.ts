import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHROMIUM_NAMES } from '@ethosagent/policy';
import { errorCodeOf } from '@ethosagent/types';
import { messageOf } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine } from '../output.js';

const execute = promisify(execFile);

interface Finding {
  what: string;
  /** `missing`: the tools that need it are left out. `broken`: the agent can't run. */
  state: 'ok' | 'missing' | 'broken';
  detail: string;
}

/** Shows what works on this machine. Exits with 1 if an agent could not run. */
export async function run({ context }: CommandInput): Promise<number> {
  const { out } = context;
  const findings: Finding[] = [
    nodeFinding(),
    await sqliteFinding(),
    ...(await Promise.all([
      programFinding(context, { program: 'git', without: 'tools that run git fail' }),
      programFinding(context, {
        program: 'rg',
        without:
          'search_files takes the one that comes with @ethosagent/tools-file, or searches by itself',
      }),
      programFinding(context, { program: 'bwrap', without: 'processes run without a sandbox' }),
      programFinding(context, {
        program: 'chromium',
        names: CHROMIUM_NAMES,
        without: 'browser tools need the path of a browser',
      }),
    ])),
    await keychainFinding(context),
    homeFinding(context),
  ];
  const isFine = findings.every(({ state }) => state !== 'broken');
  if (out.isJson) out.json({ ok: isFine, findings });
  else {
    const colors = { ok: out.color.green, missing: out.color.yellow, broken: out.color.red };
    out.table(
      findings.map(({ what, state, detail }) => [
        colors[state](state),
        out.color.bold(what),
        safeLine(detail, 500),
      ]),
    );
  }
  return isFine ? EXIT.ok : EXIT.found;
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  return {
    what: 'Node',
    state: isEnough ? 'ok' : 'broken',
    detail: isEnough ? process.version : `${process.version}; use 20.19 or newer`,
  };
}

async function sqliteFinding(): Promise<Finding> {
  try {
    const { createSqliteKvStore } = await import('@ethosagent/storage-sqlite');
    const store = createSqliteKvStore({ path: ':memory:' });
    store.close();
    const detail =
      store.driver === 'node:sqlite' ? 'node:sqlite; better-sqlite3 does not load' : store.driver;
    return { what: 'SQLite', state: 'ok', detail };
  } catch (error) {
    return { what: 'SQLite', state: 'broken', detail: messageOf(error) };
  }
}

interface WantedProgram {
  program: string;
  /** The names that it may have. The first one that starts is shown. */
  names?: readonly string[];
  without: string;
}

async function programFinding(
  { io }: CommandContext,
  { program, names = [program], without }: WantedProgram,
): Promise<Finding> {
  for (const name of names) {
    try {
      const { stdout } = await execute(name, ['--version'], { env: { PATH: io.env.PATH } });
      return { what: program, state: 'ok', detail: stdout.split('\n')[0] ?? '' };
    } catch {
      // Another name may work.
    }
  }
  return { what: program, state: 'missing', detail: `not installed or does not start: ${without}` };
}

async function keychainFinding({ io }: CommandContext): Promise<Finding> {
  const { createHomeSecrets } = await import('@ethosagent/storage-fs');
  const isThere = await createHomeSecrets({ home: io.cwd, env: io.env }).hasKeychain();
  return isThere
    ? { what: 'keychain', state: 'ok', detail: 'new secrets go into it' }
    : {
        what: 'keychain',
        state: 'missing',
        detail:
          'secrets are kept in files; it takes a Linux desktop session with secret-tool (libsecret)',
      };
}

function homeFinding(context: CommandContext): Finding {
  try {
    const { home } = context;
    accessSync(home, constants.R_OK | constants.W_OK);
    const secrets = statSync(join(home, 'secrets'), { throwIfNoEntry: false });
    if (process.platform !== 'win32' && secrets !== undefined && (secrets.mode & 0o077) !== 0) {
      const detail = `other users may look into its secrets; run chmod -R go-rwx ${join(home, 'secrets')}`;
      return { what: 'home', state: 'broken', detail };
    }
    return { what: 'home', state: 'ok', detail: home };
  } catch (error) {
    // Without a code, the home is there and can't be used.
    const state = errorCodeOf(error) === undefined ? 'broken' : 'missing';
    return { what: 'home', state, detail: messageOf(error) };
  }
}
