import { describe, expect, it } from 'vitest';
import * as memory from './index.js';

describe('createMemoryTools', () => {
  it.each(memory.createMemoryTools())(
    '$name declares the least, and marks what it says',
    (tool) => {
      expect(tool).toMatchObject({
        toolset: 'memory',
        outputIsUntrusted: true,
        supportsDryRun: true,
        capabilities: {
          memory_read: { memory: { access: 'read' } },
          memory_write: { memory: { access: 'read-write' } },
          session_search: { sessions: { access: 'read' } },
        }[tool.name],
      });
      expect(Object.keys(tool.capabilities)).toHaveLength(1);
      expect(tool.schema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.settings?.parse({})).toMatchObject({ ok: true });
      expect(tool.settings?.parse({ unknown: 1 })).toMatchObject({ ok: false });
    },
  );

  it('makes the tools that are exported one by one', () => {
    expect(memory.createMemoryTools().map(({ name }) => name)).toEqual(
      [memory.memoryReadTool, memory.memoryWriteTool, memory.sessionSearchTool].map(
        ({ name }) => name,
      ),
    );
  });
});
