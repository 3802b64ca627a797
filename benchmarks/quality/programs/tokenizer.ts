import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CountTokens } from './contest.js';

/** The package and its version. It is large, and only this counts by it. */
const TOKENIZER = 'gpt-tokenizer@4.0.0';

/** Installs a tokenizer of models in use, o200k, and counts by it. */
export function openTokenizer(): { count: CountTokens; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'tokenizer-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, TOKENIZER], {
      stdio: 'ignore',
    });
    const loaded: unknown = createRequire(join(folder, 'index.js'))(
      'gpt-tokenizer/encoding/o200k_base',
    );
    const { encode }: { encode?: unknown } = Object(loaded);
    if (typeof encode !== 'function') throw new TypeError(`${TOKENIZER} has no encode`);
    return { count: (text) => Array.from(encode(text)).length, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
