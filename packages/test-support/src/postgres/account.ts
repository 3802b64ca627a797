import { readFileSync } from 'node:fs';

/** A user of this machine. */
export interface Account {
  uid: number;
  gid: number;
}

/** The account for programs that refuse to run as root; `undefined` if this user is not root. */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find(([name]) => name === wanted) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('root can not run PostgreSQL, and there is no user postgres or nobody');
}
