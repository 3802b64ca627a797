import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { createTestFolder, isLongRun, pngOf, samplePng } from '@ethosagent/test-support';
import type { ImageScaler } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createToolRuntime } from '../tool-runtime.js';
import type { AgentOptions } from './agent-api.js';
import { createAgent } from './create-agent.js';

const SMALL = samplePng(3, 2);
const WIDE = samplePng(9_000, 2);
const scaler: ImageScaler = { scale: async () => SMALL };
const base64 = (bytes: Buffer) => bytes.toString('base64');

let folder: ReturnType<typeof createTestFolder>;
let home: string;
let audit: MemoryAuditSink;
beforeEach(() => {
  folder = createTestFolder('agent-images');
  home = join(folder.base, 'home');
  const personality = join(home, 'personalities', 'clerk');
  mkdirSync(personality, { recursive: true, mode: 0o700 });
  writeFileSync(join(personality, 'config.yaml'), 'name: Clerk\nfs_reach:\n  read: ["${CWD}"]\n');
  folder.put('small.png', SMALL);
  folder.put('wide.png', WIDE);
  folder.put('page.png', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  folder.put('bomb.png', pngOf(60_000, 60_000, Buffer.alloc(9)));
  writeFileSync(join(folder.outside, 'theirs.png'), SMALL);
  audit = new MemoryAuditSink();
});
afterEach(() => {
  folder.remove();
  rmSync(home, { recursive: true, force: true });
});

const options = () => ({ home, cwd: folder.dir, personality: 'clerk', audit });

/** What the model gets of calls of `read_file`, and what the session keeps. */
async function read(paths: readonly string[], given: Partial<AgentOptions> = {}) {
  const calls = paths.map((path): [string, object] => ['read_file', { path }]);
  const model = scriptedModel([calls, 'Seen.']);
  const agent = await createAgent({
    ...options(),
    tools: ['read_file'],
    model,
    toolImages: true,
    ...given,
  });
  await agent.loop.ask({ sessionId: 's', prompt: 'Look' });
  const stored = JSON.stringify(await agent.runtime.sessions.messages('s', {}));
  await agent.close();
  return { told: JSON.stringify(model.requests[1]?.prompt), stored };
}

const times = (text: string, part: string) => text.split(part).length - 1;

describe('an agent that reads images', () => {
  it('sees them, and keeps each once; the audit log has their hash', async () => {
    const { told, stored } = await read(['small.png', 'wide.png'], { imageScaler: scaler });
    expect(times(told, base64(SMALL))).toBe(2);
    expect(told).toContain('9000 × 2 pixels) is shown at 3 × 2');
    expect(times(stored, base64(SMALL))).toBe(2);
    expect(stored).not.toContain(base64(WIDE));
    const [small, wide] = audit.calls.map(({ images }) => images);
    expect(small).toEqual([
      {
        mediaType: 'image/png',
        sizeBytes: SMALL.length,
        sha256: expect.stringMatching(/^\w{64}$/),
      },
    ]);
    expect(wide).toMatchObject([{ sizeBytes: WIDE.length }]);
    expect(JSON.stringify(audit.calls)).not.toContain(base64(SMALL));
  });

  it('does not see what is outside its reach, a bomb, or a page that is called a PNG', async () => {
    const outside = join(folder.outside, 'theirs.png');
    const { told, stored } = await read([outside, 'bomb.png', 'page.png']);
    expect(told).toContain('PATH_NOT_REACHABLE');
    expect(told).toContain('60000 × 60000 pixels');
    expect(told).not.toContain('image-data');
    expect(stored).not.toContain('"images"');
    expect(audit.calls.map(({ cause }) => cause)).toEqual([
      'PATH_NOT_REACHABLE',
      'IMAGE_TOO_LARGE',
      undefined,
    ]);
  });

  it('is told what to install where nothing makes them smaller', async () => {
    const { told } = await read(['wide.png'], { imageScaler: false });
    expect(told).toContain('@ethosagent/image-scaler');
    expect(told).not.toContain(base64(WIDE));
  });

  it.runIf(isLongRun())('has the package that is installed make them smaller', async () => {
    const { told } = await read(['wide.png']);
    expect(told).toContain('is shown at 1568 × 1');
  });
});

describe('a session of a runtime', () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    capabilities: {},
    execute: async () =>
      ok('seen', { structured: { images: [{ mediaType: '', data: base64(WIDE) }] } }),
  });
  const call = { toolCallId: 'a', name: 'look', args: {} };

  it('has the limits of the runtime, or its own, and the scaler', async () => {
    const runtime = await createToolRuntime({
      ...options(),
      tools: [look],
      images: { maxSidePixels: 9_000, fitSidePixels: 9_000 },
      imageScaler: scaler,
    });
    const ask = async (id: string, images?: boolean | object) => {
      const [answer] = await runtime
        .session(id, images === undefined ? {} : { images })
        .execute([call]);
      return answer;
    };
    expect((await ask('a'))?.images).toMatchObject([{ data: base64(WIDE) }]);
    const scaled = await ask('b', true);
    expect(scaled).toMatchObject({ images: [{ mediaType: 'image/png', data: base64(SMALL) }] });
    expect(scaled?.text).toBe('seen\n[the image (image/png, 9000 × 2 pixels) is shown at 3 × 2]');
    const none = await ask('c', false);
    expect(none?.images).toEqual([]);
    expect(none?.text).toContain('this model takes no images');
    // A program gets the image unchanged.
    const [given] = await runtime.execute([call]);
    expect(JSON.stringify(given?.result)).toContain(base64(WIDE));
    await runtime.close();
  });

  it.each([[{ images: Object({ maxSide: 5 }) }], [{ imageScaler: Object({}) }]])(
    'refuses the options %j',
    async (wrong) => {
      await expect(createToolRuntime({ ...options(), ...wrong })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      });
    },
  );

  it('refuses limits of a session that can not be', async () => {
    const runtime = await createToolRuntime({ ...options(), tools: [look] });
    expect(() => runtime.session('s', { images: { maxImages: 0 } })).toThrow('CONFIG_INVALID');
    await runtime.close();
  });
});
