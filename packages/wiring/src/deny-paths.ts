import { homedir } from 'node:os';
import { join } from 'node:path';
import { denyFloor } from '@ethosagent/policy';

/** What no tool reaches: the deny floor, the state that a home may hold, and what the host adds. */
export function runtimeDenyPaths(home: string, added: readonly string[] = []): string[] {
  const databases = ['state.sqlite', 'sessions.sqlite'].flatMap((name) =>
    ['', '-wal', '-shm', '-journal'].map((end) => join(home, name + end)),
  );
  const folders = ['audit', 'attachments', 'memory'].map((name) => join(home, name));
  return denyFloor({
    home: homedir(),
    secretsDir: join(home, 'secrets'),
    extra: [...databases, ...folders, ...added],
  });
}
