import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PROGRAMS = ['dbus-daemon', 'gnome-keyring-daemon', 'secret-tool'];

/** Whether this machine has what a keychain of a desktop needs. */
export function canOpenKeychain(): boolean {
  return PROGRAMS.every((program) => spawnSync(program, ['--version']).error === undefined);
}

/** A keychain of its own, as a desktop has one. */
export interface TestKeychain {
  /** The environment of a program of that desktop. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** Starts a bus and GNOME Keyring on it, unlocked and empty, in a temporary folder. */
export async function openKeychain(): Promise<TestKeychain> {
  const folder = mkdtempSync(join(tmpdir(), 'keychain-'));
  const started: ChildProcess[] = [];
  const close = async () => {
    for (const child of started.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const start = (program: string, args: readonly string[], env: Record<string, string>) => {
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    started.push(child);
    return child;
  };
  try {
    const runtime = join(folder, 'run');
    mkdirSync(runtime, { mode: 0o700 });
    const config = join(folder, 'bus.conf');
    writeFileSync(config, busConfig(folder));
    const env: Record<string, string> = {
      // biome-ignore lint/style/noProcessEnv: a child needs its PATH, and nothing else
      PATH: process.env.PATH ?? '',
      HOME: folder,
      XDG_RUNTIME_DIR: runtime,
    };
    const bus = start('dbus-daemon', ['--nofork', '--print-address', '--config-file', config], env);
    for await (const line of createInterface(bus.stdout)) {
      env.DBUS_SESSION_BUS_ADDRESS = line;
      break;
    }
    const daemon = start(
      'gnome-keyring-daemon',
      ['--foreground', '--unlock', '--components=secrets', '--control-directory', runtime],
      env,
    );
    daemon.stdin?.end('password of the test');
    // There is no notification when the keychain is ready.
    while (daemon.exitCode === null) {
      const asked = spawn('secret-tool', ['lookup', 'a', 'b'], {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      asked.stderr.on('data', (data) => {
        said += data;
      });
      await once(asked, 'close');
      if (said === '') return { env, close };
    }
    throw new Error('gnome-keyring-daemon ended by itself');
  } catch (error) {
    await close();
    throw error;
  }
}

/** A bus that starts no services: a keychain that the bus started would be locked. */
function busConfig(folder: string): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir=${folder}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;
}
