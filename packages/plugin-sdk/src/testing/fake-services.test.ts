import { errorCodeOf, type ServiceScope, type ToolCapabilities } from '@ethosagent/types';
import { afterEach, describe, expect, it } from 'vitest';
import { defineTool, ok } from '../tool-helpers.js';
import type { ProcessTable } from './fake-process.js';
import { runTool } from './run-tool.js';
import { createTestContext } from './test-context.js';
import type { TestOptions } from './test-world.js';

const CAPABILITIES: ToolCapabilities = {
  service: { scope: 'session' },
  process: { allowedBinaries: ['server'] },
  network: { allowedHosts: ['api.example.com'] },
  storage: { scope: 'session', kind: 'kv' },
};

const upper: ProcessTable[string] = async (_args, { onOutput }, input) => {
  for await (const text of input) await onOutput?.(text.toUpperCase(), 'stdout');
  return { exitCode: 3 };
};

const opened: ServiceScope[] = [];
afterEach(async () => {
  for (const service of opened.splice(0)) await service.end();
});

async function open(options: TestOptions = {}) {
  const context = createTestContext(CAPABILITIES, { processes: { server: upper }, ...options });
  const service = await context.ctx.services?.open();
  if (service?.scopedProcess === undefined) throw new Error('no service');
  opened.push(service);
  return { ...context, service, processes: service.scopedProcess };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => errorCodeOf(error),
  );

describe('services of createTestContext', () => {
  it('talk to what answers from the table, and start nothing', async () => {
    const { processes, spawned } = await open();
    let said = '';
    const server = await processes.open('server', ['--stdio'], {
      onOutput: (text) => {
        said += text;
      },
    });
    await server.write('hello\n');
    await server.write(new TextEncoder().encode('you\n'));
    server.end();
    expect(await server.result).toEqual({ exitCode: 3, stdout: '', stderr: '' });
    expect(said).toBe('HELLO\nYOU\n');
    expect(await codeOf(server.write('more'))).toBe('PROCESS_ENDED');
    expect(spawned).toMatchObject([{ binary: 'server', args: ['--stdio'] }]);
  });

  it('share what the call reaches, and end', async () => {
    const { ctx, service, processes, services } = await open({
      routes: { 'https://api.example.com/': 'fine' },
    });
    await ctx.kvStore?.set('k', 'v');
    expect(await service.kvStore?.get('k')).toBe('v');
    const response = await service.scopedFetch?.fetch('https://api.example.com/');
    expect(await response?.text()).toBe('fine');
    expect(await service.proxy?.()).toMatchObject({ username: 'test' });
    const server = await processes.open('server', []);
    const seen: string[] = [];
    service.onEnd(() => void seen.push('closed'));
    await services[0]?.end();
    expect(seen).toEqual(['closed']);
    for (const use of [server.result, service.kvStore?.get('k'), processes.open('server', [])]) {
      expect(await codeOf(Promise.resolve(use))).toBe('CALL_ENDED');
    }
  });

  it.each(['spawn', 'open', 'prepare'] as const)(
    '%s refuses what is not declared',
    async (method) => {
      const { processes } = await open();
      expect(await codeOf(processes[method]('sh', []))).toBe('BINARY_NOT_ALLOWED');
    },
  );

  it('stop ends what goes on', async () => {
    const { processes } = await open();
    const server = await processes.open('server', []);
    await server.stop();
    expect(await server.result).toMatchObject({ signal: 'SIGTERM' });
  });

  it('prepare gives a command line', async () => {
    const { processes } = await open();
    expect(await processes.prepare('server', ['-v'], { env: { A: 'b' }, cwd: '/w' })).toEqual({
      file: '/usr/bin/server',
      args: ['-v'],
      env: { A: 'b' },
      cwd: '/w',
    });
  });
});

describe('services of runTool', () => {
  it('start nothing, and are recorded', async () => {
    const tool = defineTool({
      name: 'keeper',
      description: 'Keeps a server open.',
      schema: { type: 'object' },
      capabilities: { service: { scope: 'session' }, process: { allowedBinaries: ['server'] } },
      async execute(_args: object, ctx) {
        const service = await ctx.services.open();
        const server = await service.scopedProcess?.open('server', []);
        await server?.write('x');
        return ok('open');
      },
    });
    const { result, audit, services } = await runTool(tool, {}, { processes: { server: upper } });
    expect(result).toEqual({ ok: true, value: 'open' });
    expect(audit).toMatchObject([
      { capability: 'service', operation: 'open' },
      { capability: 'process', operation: 'open', target: 'server', decision: 'allowed' },
    ]);
    opened.push(...services);
    expect(services).toHaveLength(1);
  });
});
