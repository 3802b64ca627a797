import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadPersonality, personalityConfigPath } from '@ethosagent/wiring';
import { expect, it } from 'vitest';
import { blocksOf } from './tooling/blocks.js';
import { readPages } from './tooling/markdown.js';

const personalities = readPages('', '```yaml')
  .flatMap(blocksOf)
  .filter(({ marks }) => marks.has('personality'));

it.each(personalities.map((block) => [`${block.page}:${block.line}`, block.code] as const))(
  'the personality at %s is valid',
  async (_, text) => {
    const home = mkdtempSync(join(tmpdir(), 'personality-'));
    const path = personalityConfigPath(home, 'shown');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    try {
      await expect(loadPersonality({ home, id: 'shown', cwd: '/repo' })).resolves.toBeDefined();
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);
