import type { PersonalityConfig } from '@ethosagent/types';
import { beforeEach, describe, expect, it } from 'vitest';
import { ServedMcp } from './served-mcp.js';

const NOTHING = { personality: 'user', state: 'ready', held: [] };

/** Servers that start when the test lets them, and end when they are stopped. */
class Servers {
  readonly log: string[] = [];
  readonly again: string[] = [];
  readonly running = new Map<string, string>();
  readonly #waiting = new Map<string, () => void>();
  stopGate: Promise<void> = Promise.resolve();

  status() {
    return [{ ...NOTHING, server: 'My Server', tools: ['mcp__My_Server-x1__echo'] }];
  }

  start(
    id: string,
    servers: readonly string[] = [],
    { waitMs }: { waitMs?: number } = {},
  ): Promise<unknown> {
    const name = servers.join();
    if (waitMs === 0) {
      this.again.push(name);
      return Promise.reject(new Error('a bridge that fails'));
    }
    this.log.push(`start ${name}`);
    this.running.set(id, name);
    if (!name.startsWith('slow')) return Promise.resolve();
    return new Promise<void>((resolve) => this.#waiting.set(name, resolve));
  }

  async stop(id: string): Promise<void> {
    const name = this.running.get(id) ?? '';
    this.log.push(`stop ${name}`);
    this.running.delete(id);
    this.come(name);
    await this.stopGate;
  }

  come(name: string): void {
    this.#waiting.get(name)?.();
  }
}

const config = (...servers: string[]): PersonalityConfig => ({
  id: 'user',
  name: 'User',
  mcp_servers: servers,
});

let servers: Servers;
beforeEach(() => {
  servers = new Servers();
});

/** A new config with the description `the same` is served by the earlier servers. */
const served = (maxWaitMs?: number) =>
  new ServedMcp(servers, {
    servesToo: (before, now) => before === now || now.description === 'the same',
    ...(maxWaitMs !== undefined && { maxWaitMs }),
  });

describe('ServedMcp.namesOf', () => {
  it('adds how a server stands in the names of its tools', () => {
    expect(served().namesOf(['My Server', 'other'])).toEqual([
      'My Server',
      'other',
      'My_Server-x1',
    ]);
    expect(served().namesOf(['other'])).toEqual(['other']);
  });
});

describe('ServedMcp.ready', () => {
  it('goes on with the servers under a newer config that they serve too', async () => {
    const mcp = served();
    await mcp.ready(config('a'));
    await mcp.ready({ ...config('a'), description: 'the same' });
    expect(servers.log).toEqual(['start a']);
  });

  it('tries held servers again whenever it is asked, without waiting', async () => {
    const mcp = served();
    const one = config('a');
    for (let index = 0; index < 3; index++) await mcp.ready(one);
    expect(servers.log).toEqual(['start a']);
    expect(servers.again).toEqual(['a', 'a']);
  });

  it('starts once for all who ask at once', async () => {
    const mcp = served();
    const one = config('a');
    await Promise.all([mcp.ready(one), mcp.ready(one)]);
    await mcp.ready(one);
    expect(servers.log).toEqual(['start a']);
  });

  it('waits for a silent server no longer than it may, and but once', async () => {
    const mcp = served(50);
    const slow = config('slow');
    await mcp.ready(slow);
    const begun = performance.now();
    for (let index = 0; index < 100; index++) await mcp.ready(slow);
    expect(performance.now() - begun).toBeLessThan(50 * 100);
    expect(servers.log).toEqual(['start slow']);
  });

  it('ends what was being started for an older config', async () => {
    const mcp = served(600_000);
    const older = mcp.ready(config('slow'));
    while (servers.log.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await mcp.ready(config('b'));
    await older;
    expect(servers.log).toEqual(['start slow', 'stop slow', 'start b']);
    expect([...servers.running.values()]).toEqual(['b']);
  });

  it('runs only the newest when a config changes again while the first ends', async () => {
    const mcp = served();
    await mcp.ready(config('a'));
    let open = () => {};
    servers.stopGate = new Promise((resolve) => {
      open = resolve;
    });
    const all = ['b', 'c', 'd'].map((name) => mcp.ready(config(name)));
    await new Promise((resolve) => setImmediate(resolve));
    servers.stopGate = Promise.resolve();
    open();
    await Promise.all(all);
    expect(servers.log).toEqual(['start a', 'stop a', 'start d']);
    expect([...servers.running.values()]).toEqual(['d']);
  });

  it('tries again after a start that failed', async () => {
    let fails = true;
    const mcp = new ServedMcp(
      {
        status: () => servers.status(),
        start: async (id, names) => {
          if (fails) throw new Error('no');
          return servers.start(id, names);
        },
        stop: (id) => servers.stop(id),
      },
      { servesToo: Object.is },
    );
    const one = config('a');
    await expect(mcp.ready(one)).rejects.toThrow('no');
    fails = false;
    await mcp.ready(one);
    expect(servers.log).toEqual(['start a']);
  });
});
