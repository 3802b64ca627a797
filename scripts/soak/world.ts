import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folders of a soak, and what must never be seen elsewhere. */
export interface World {
  base: string;
  home: string;
  work: string;
  outside: string;
  /** What stands in files outside of every reach. */
  outsideCanary: string;
  /** The value of the only secret. */
  secret: string;
  /** In the environment of every process of this soak. */
  marker: string;
  personalities: string[];
  sessions: { id: string; canary: string }[];
  remove(): void;
}

const NETWORK = `  network:
    allow: ["*.test"]
    deny: ["denied.test"]
    allow_private_urls: true
`;
const FILES = `fs_reach:
  read: ["\${CWD}"]
  write: ["\${CWD}"]
`;
const PERSONALITIES: Record<string, string> = {
  open: `name: Open\n${FILES}safety:\n${NETWORK}`,
  capped: `name: Capped
${FILES}safety:
${NETWORK}  quotas:
    per_call: { requests: 2, bytes_in: 200000, files_written: 2, store_bytes: 20000, process_seconds: 1 }
    per_session: { requests: 200, process_seconds: 30, files_written: 500, store_bytes: 200000 }
`,
  boxed: `name: Boxed\n${FILES}safety:\n${NETWORK}  process: { sandbox: preferred }\n`,
  shut: 'name: Shut\nsafety:\n  network: { allow: [] }\n',
};

export function createWorld(sessions: number): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'soak-')));
  const [home, work, outside] = [join(base, 'home'), join(base, 'work'), join(base, 'workshop')];
  for (const folder of [join(work, 'sub'), outside]) mkdirSync(folder, { recursive: true });
  for (const [id, yaml] of Object.entries(PERSONALITIES)) {
    const folder = join(home, 'personalities', id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'config.yaml'), yaml, { mode: 0o600 });
  }
  const outsideCanary = `outside-${crypto.randomUUID()}`;
  writeFileSync(join(outside, 'canary.txt'), outsideCanary);
  writeFileSync(join(work, 'notes.txt'), 'one\ntwo\nthree\n'.repeat(50));
  symlinkSync(join(outside, 'canary.txt'), join(work, 'link.txt'));
  symlinkSync(outside, join(work, 'link'));
  return {
    base,
    home,
    work,
    outside,
    outsideCanary,
    secret: `s3cret/${crypto.randomUUID()}+=`,
    marker: `soak-${crypto.randomUUID()}`,
    personalities: Object.keys(PERSONALITIES),
    sessions: Array.from({ length: sessions }, (_, index) => ({
      id: `session-${index}`,
      canary: `canary-${index}-${crypto.randomUUID()}`,
    })),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
