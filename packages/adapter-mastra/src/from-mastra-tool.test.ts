import { createTool } from '@mastra/core/tools';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type FromMastraToolOptions, fromMastraTool } from './from-mastra-tool.js';

describe('fromMastraTool', () => {
  it.each<unknown>([null, 0, '', Number.NaN, 'false'])(
    'refuses the approval %j, which ran calls unasked',
    (approval) => {
      const foreign = createTool({
        id: 'add',
        description: 'Adds.',
        inputSchema: z.object({}),
        execute: async () => 'done',
      });
      const options = { approval } as FromMastraToolOptions;
      expect(() => fromMastraTool(foreign, options)).toThrow(
        'CONFIG_INVALID: fromMastraTool: approval must be true or false',
      );
    },
  );
});
