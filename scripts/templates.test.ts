import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outsideWorkspace } from './outside-workspace.js';
import { packAll } from './release/pack.js';
import { pnpm } from './release/pnpm.js';

// What `npm create @ethosagent` writes, installed from the packed packages, type-checked, tested and
// run. Needs a build. In the check, the templates are type-checked and their files listed.

describe.runIf(isLongRun())('a project of the packed @ethosagent/create', () => {
  let world: string;
  let workspace: string;
  beforeAll(async () => {
    world = mkdtempSync(join(tmpdir(), 'ethos-templates-'));
    workspace = outsideWorkspace(await packAll(world), { autoInstallPeers: true });
    mkdirSync(join(world, 'create'));
    const dependencies = { '@ethosagent/create': '*', '@ethosagent/cli': '*' };
    writeFileSync(join(world, 'create', 'package.json'), JSON.stringify({ dependencies }));
    writeFileSync(join(world, 'create', 'pnpm-workspace.yaml'), workspace);
    await pnpm(join(world, 'create'), 'install', '--prefer-offline');
  });
  afterAll(() => rmSync(world, { recursive: true, force: true }));

  // The error may be on either stream.
  const run = (cwd: string, command: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const bin = (name: string) => join(world, 'create', 'node_modules', '.bin', name);

  it.each([
    ['agent', 'hello.txt has 8 words. I may not read package.json.', 2],
    ['tool', '\n8 words\n', 2],
    ['mcp-server', '8 words', 5],
    ['plugin', 'It has 8 words.', 3],
  ])('%s is installed, type-checked, tested and run', async (template, printed, tests) => {
    const name = `my-${template}`;
    const project = join(world, name);
    expect(run(world, bin('create-ethosagent'), name, '--template', template, '--yes')).toContain(
      `cd ${name}\n`,
    );
    writeFileSync(join(project, 'pnpm-workspace.yaml'), workspace);
    await pnpm(project, 'install', '--prefer-offline');
    expect(run(project, 'npm', 'test')).toContain(`pass ${tests}\n`);
    const shown = run(project, 'npm', 'start');
    expect(shown).toContain(printed.trim());
    expect(shown).toContain('PATH_NOT_REACHABLE');
    expect(run(project, 'npm', 'run', 'check')).toContain('0 errors, 0 warnings');
    const call = ['call', 'count_words', '{"path":"workspace/hello.txt"}'];
    const ethosagent = join(project, 'node_modules', '.bin', 'ethosagent');
    expect(run(project, ethosagent, ...call)).toContain('8 words');
    expect(run(project, ethosagent, 'audit', 'verify')).toContain('none changed');
  });

  it('is the same from "ethosagent init"', () => {
    run(world, bin('ethosagent'), 'init', 'same', '--template', 'agent', '--yes');
    run(world, bin('create-ethosagent'), 'same-2', '--yes');
    const files = (name: string) => run(join(world, name), 'find', '.', '-type', 'f').split('\n');
    expect(files('same').sort()).toEqual(files('same-2').sort());
  });
});
