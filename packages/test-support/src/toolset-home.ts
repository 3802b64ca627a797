import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A home in a temporary folder, whose personality `clerk` has the tools of a list. */
export function createToolsetHome(...toolset: string[]) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'toolset-')));
  const folder = join(home, 'personalities', 'clerk');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const setToolset = async (names: readonly string[]) =>
    writeFileSync(join(folder, 'config.yaml'), `name: Clerk\ntoolset: ${JSON.stringify(names)}\n`);
  void setToolset(toolset);
  return {
    home,
    setToolset,
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}
