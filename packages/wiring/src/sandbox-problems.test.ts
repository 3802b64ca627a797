import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder } from '@ethosagent/test-support';
import { createCodeTools } from '@ethosagent/tools-code';
import { createTerminalTools } from '@ethosagent/tools-terminal';
import type { AnyTool } from '@ethosagent/types';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToolRuntime } from './tool-runtime.js';

interface World {
  toolset?: string;
  process?: string;
  tools?: readonly AnyTool[];
  env?: Record<string, string>;
}

async function problemsOf({ toolset = '', process = '', tools, env }: World) {
  const { base, dir, remove } = createTestFolder('sandbox-problems');
  onTestFinished(remove);
  const personality = join(base, 'home', 'personalities', 'coder');
  mkdirSync(personality, { recursive: true });
  writeFileSync(
    join(personality, 'config.yaml'),
    `name: Coder\n${toolset}${process}fs_reach: { read: ["\${CWD}"], write: ["\${CWD}"] }\n`,
  );
  const runtime = await createToolRuntime({
    home: join(base, 'home'),
    personality: 'coder',
    cwd: dir,
    tools: tools ?? createTerminalTools(),
    ...(env !== undefined && { env }),
  });
  onTestFinished(() => runtime.close());
  return runtime.problems();
}

const sandbox = (value: string) => `safety: { process: { sandbox: ${value} } }\n`;

describe('ToolRuntime.problems', () => {
  it.each([
    ['says nothing of one', ''],
    ['wants none', sandbox('false')],
  ])('tells that terminal runs without a sandbox where the personality %s', async (_, process) => {
    const [problem, ...others] = await problemsOf({ process });
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      key: 'safety.process.sandbox',
      tool: 'terminal',
      heldBack: false,
    });
    expect(problem?.message).toMatch(
      /config\.yaml(?::2:31)?: safety\.process\.sandbox: terminal runs commands outside of a sandbox, with all rights .* set it to required$/,
    );
  });

  it('tells it where a sandbox is preferred and the machine has none', async () => {
    const problems = await problemsOf({
      process: sandbox('preferred'),
      env: { PATH: '/nowhere' },
    });
    expect(problems.map(({ tool }) => tool)).toEqual(['terminal']);
    expect(problems[0]?.message).toContain('this machine has no sandbox that works; ');
  });

  it.each([
    ['a sandbox is required', { process: sandbox('required') }],
    ['the tools are not offered', { toolset: 'toolset: [typecheck]\n', tools: createCodeTools() }],
    [
      'the tool itself requires one',
      { toolset: 'toolset: [run_code]\n', tools: createCodeTools() },
    ],
  ])('tells nothing of it where %s', async (_, world) => {
    const found = await problemsOf(world);
    expect(found.filter(({ key }) => key === 'safety.process.sandbox')).toEqual([]);
  });

  it('tells it of tools that run the scripts of a project', async () => {
    const found = await problemsOf({ toolset: 'toolset: [lint]\n', tools: createCodeTools() });
    expect(found.map(({ key, tool }) => [key, tool])).toEqual([['safety.process.sandbox', 'lint']]);
  });

  it('names the one tool of several that is offered', async () => {
    const found = await problemsOf({ toolset: 'toolset: [terminal_start]\n' });
    expect(found.map(({ tool }) => tool)).toEqual(['terminal_start']);
  });
});
