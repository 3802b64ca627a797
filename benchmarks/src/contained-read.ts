import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScopedFsImpl } from '@ethosagent/core/scoped';
import { FsStorage } from '@ethosagent/storage-fs';
import { sideBySide } from './side-by-side.js';

/** `scopedFs.read`, contained by descriptor, beside Node's own reads. */
export async function run(): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-read-')));
  try {
    const scoped = new ScopedFsImpl(new FsStorage(), new Set([folder]), new Set());
    for (const [label, bytes, goals] of [
      ['1 KB', 1024, { sync: 1.8, promises: 0.5 }],
      ['10 MB', 10 * 1024 * 1024, { promises: 0.8 }],
    ] as const) {
      const file = join(folder, `${bytes}.txt`);
      writeFileSync(file, 'x'.repeat(bytes));
      const operations = bytes > 1_000_000 ? 1 : 20;
      // The text is looked through, as every user of it does. A string that was joined of pieces is made
      // only then.
      const sequential = (read: () => string | null | Promise<string | null>) => async () => {
        for (let i = 0; i < operations; i++) {
          const text = await read();
          if (text === null || text.includes('\n')) throw new Error('another text was read');
        }
      };
      const ours = sequential(() => scoped.read(file));
      await sideBySide(`Contained read, ${label}`, [
        { name: 'readFileSync', operations, run: sequential(() => readFileSync(file, 'utf8')) },
        { name: 'fs.promises.readFile', operations, run: sequential(() => readFile(file, 'utf8')) },
        {
          name: 'scopedFs.read',
          operations,
          run: ours,
          goal: { atMost: goals.promises, of: 'fs.promises.readFile' },
        },
        ...('sync' in goals
          ? [
              {
                name: 'scopedFs.read (again)',
                operations,
                run: ours,
                goal: { atMost: goals.sync, of: 'readFileSync' },
              },
            ]
          : []),
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
