import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileSourceTrust } from '@ethosagent/policy';
import { realPathOf } from '@ethosagent/process';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CallTaint } from './call-taint.js';

const DOCS = 'https://docs.example.com/';

function taintOf(trust: readonly string[] = [`${DOCS}*`]) {
  const marked: string[] = [];
  const taint = new CallTaint({
    session: false,
    output: true,
    hasServiceRead: () => false,
    isSeen: true,
    watch: {
      trust: compileSourceTrust(trust, realPathOf),
      trustsTool: false,
      isWritten: async () => false,
      beforeWrite: async (paths) => {
        marked.push(...paths);
      },
    },
  });
  return { taint, marked };
}

describe('a call that reads', () => {
  it.each([
    ['500 sources, each twice', 500, true],
    ['one source more than are remembered', 501, false],
  ])('%s', async (_what, count, isWhole) => {
    const { taint, marked } = taintOf();
    for (let at = 0; at < 2 * count; at++) taint.noteUrl(`${DOCS}${at % count}`);
    expect(taint.reads).toMatchObject({ isWhole, sources: { length: 500 } });
    expect(taint.known()?.length).toBe(isWhole ? 500 : undefined);
    await taint.beforeWrite(['/tmp/a']);
    expect(marked).toEqual(isWhole ? [] : ['/tmp/a']);
  });

  it('a file behind links that lead in a circle, of which nobody knows what it is later', async () => {
    const { dir, remove } = createTestFolder('call-taint');
    onTestFinished(remove);
    const { taint, marked } = taintOf([`${dir}/**`]);
    writeFileSync(join(dir, 'a'), 'mine');
    taint.noteFile(join(dir, 'a'));
    expect(taint.known()).toHaveLength(1);
    symlinkSync(join(dir, 'loop'), join(dir, 'loop'));
    taint.noteFile(join(dir, 'loop'));
    expect(taint.known()).toBeUndefined();
    await taint.beforeWrite([join(dir, 'b')]);
    expect(marked).toEqual([join(dir, 'b')]);
  });
});

describe('a call that writes', () => {
  function folderWithLink() {
    const { dir, remove } = createTestFolder('call-taint');
    onTestFinished(remove);
    for (const folder of ['mine', 'out']) mkdirSync(join(dir, folder));
    writeFileSync(join(dir, 'out/a'), 'theirs');
    symlinkSync(join(dir, 'out'), join(dir, 'mine/link'));
    return (path: string) => join(dir, path);
  }

  it('marks what it moves out of a link in a trusted folder', async () => {
    const at = folderWithLink();
    const { taint, marked } = taintOf([at('mine/**')]);
    await taint.beforeWrite([at('mine/link/a'), at('mine/a')], at('mine/link/a'));
    expect(marked).toContain(at('mine/a'));
  });

  it('marks no file that held the text before, whichever path it was read by', async () => {
    const at = folderWithLink();
    const { taint, marked } = taintOf([at('mine/**')]);
    taint.noteFile(at('mine/link/a'));
    await taint.beforeWrite([at('out/a')]);
    expect(marked).toEqual([]);
    await taint.beforeWrite([at('mine/b')]);
    expect(marked).toEqual([at('mine/b')]);
  });
});
