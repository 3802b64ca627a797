import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryConformance } from '@ethosagent/conformance';
import { createMarkdownMemory } from './markdown-memory.js';

memoryConformance('createMarkdownMemory', ({ clock }) => {
  const base = mkdtempSync(join(tmpdir(), 'markdown-memory-'));
  return {
    memory: createMarkdownMemory({ dir: join(base, 'new', 'memory'), clock }),
    close: () => rmSync(base, { recursive: true }),
  };
});
