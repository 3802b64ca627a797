import { resolve } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { z } from 'zod';

export const countWords = defineTool({
  name: 'count_words',
  description: 'Count the words of a text file.',
  input: z.object({ path: z.string().min(1).describe('Path of the file') }),
  // All that this tool may touch: the files that the personality lets it read.
  // For a host: network: { allowedHosts: ['api.example.com'] }, then ctx.scopedFetch.fetch(url).
  capabilities: { fs_reach: { read: 'from-personality' } },
  async execute({ path }, ctx) {
    const text = await ctx.scopedFs.read(resolve(ctx.workingDir, path));
    return ok(`${text.split(/\s+/).filter(Boolean).length} words`);
  },
});
