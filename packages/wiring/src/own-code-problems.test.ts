import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { AnyTool } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ownCodeProblems } from './own-code-problems.js';

let world: string;
beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'own-code-')));
  mkdirSync(join(world, 'project/node_modules/wiring/dist'), { recursive: true });
  mkdirSync(join(world, 'other'));
});
afterEach(() => rmSync(world, { recursive: true, force: true }));

const tool = (name: string, fs_reach: AnyTool['capabilities']['fs_reach']) =>
  defineTool({
    name,
    description: name,
    input: z.object({}),
    capabilities: fs_reach === undefined ? {} : { fs_reach },
    execute: async () => ok(''),
  });
const TOOLS = [
  tool('reads', { read: 'from-personality' }),
  tool('writes', { write: 'from-personality' }),
];

function problems(
  write: string[],
  { deny = [], toolset }: { deny?: string[]; toolset?: string[] } = {},
) {
  const at = (path: string) => join(world, path);
  return ownCodeProblems(
    { id: 'p', name: 'P', ...(toolset !== undefined && { toolset }) },
    {
      file: 'p/config.yaml',
      reach: { write: write.map(at), deny: deny.map(at) },
      tools: TOOLS,
      code: at('project/node_modules/wiring/dist'),
    },
  );
}

describe('ownCodeProblems', () => {
  it.each([
    ['the project', ['project']],
    ['a folder above it', ['other', '.']],
    ['the very folder', ['project/node_modules/wiring/dist']],
  ])('warns where tools may write %s', (_what, write) => {
    expect(problems(write)).toEqual([
      {
        file: 'p/config.yaml',
        key: 'fs_reach.write',
        tool: 'writes',
        message: expect.stringMatching(/writes may write .*wiring\/dist, the code of this program/),
        heldBack: false,
      },
    ]);
  });

  it('warns where a link leads to the code', () => {
    symlinkSync(join(world, 'project'), join(world, 'link'));
    expect(problems(['link'])).toHaveLength(1);
  });

  it('is silent where they may not, or nobody writes', () => {
    expect(problems(['other', 'project/node_modules/wiring/dist/below'])).toEqual([]);
    expect(problems(['project'], { deny: ['project/node_modules'] })).toEqual([]);
    expect(problems(['project'], { toolset: ['reads'] })).toEqual([]);
  });
});
