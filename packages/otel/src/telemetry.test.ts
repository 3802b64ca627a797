import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createToolRuntime, type ToolRuntimeOptions } from '@ethosagent/wiring';
import { createAgent } from '@ethosagent/wiring/agent';
import {
  context,
  type Meter,
  metrics,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openProviders, openWorld } from './fixtures/otel-world.js';
import { createTelemetry, type TelemetryOptions } from './telemetry.js';

type StreamPart =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

let world: ReturnType<typeof openWorld>;
let providers: ReturnType<typeof openProviders>;
beforeEach(() => {
  world = openWorld();
  providers = openProviders();
});
afterEach(async () => {
  await providers.close();
  world.remove();
});

async function open(
  options: TelemetryOptions = {},
  runtimeOptions: Partial<ToolRuntimeOptions> = {},
) {
  const { tracer, meter } = providers;
  const telemetry = createTelemetry({ tracer, meter, ...options });
  const { home, cwd, tools } = world;
  const runtime = await createToolRuntime({
    home,
    cwd,
    tools,
    personality: 'reader',
    audit: [telemetry.sink],
    ...runtimeOptions,
  });
  onTestFinished(() => runtime.close());
  return { telemetry, runtime };
}

const spans = () => providers.spans.getFinishedSpans();
const spanOf = (name: string) => spans().find((span) => span.name === name);

describe('a call', () => {
  it('is marked where it was a dry run', async () => {
    const { runtime } = await open();
    for (const dryRun of [true, false]) {
      await runtime.execute([{ toolCallId: 'c1', name: 'read', args: { path: 'a' } }], { dryRun });
    }
    expect(spans().map(({ attributes }) => attributes['ethos.dry_run'])).toContain(true);
    expect(spans().at(-1)?.attributes).not.toHaveProperty('ethos.dry_run');
  });

  it('is a span execute_tool, with each access below it', async () => {
    const { runtime } = await open();
    const path = join(world.cwd, 'notes', 'a.txt');
    await runtime.execute([{ toolCallId: 'c1', name: 'read', args: { path } }], { sessionId: 's' });
    const call = spanOf('execute_tool read');
    expect(call?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'read',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.conversation.id': 's',
      'gen_ai.agent.name': 'reader',
      'ethos.outcome': 'ok',
    });
    expect(call?.attributes).not.toHaveProperty('gen_ai.tool.call.arguments');
    const access = spanOf('fs_reach.read read');
    expect(access?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
    expect(access?.attributes).toMatchObject({
      'ethos.access.target': path,
      'ethos.access.decision': 'allowed',
      'ethos.access.declared': expect.stringContaining('fs_reach.read'),
      'ethos.access.policy': ['personalities/reader/config.yaml:3'],
    });
  });

  it('with the id of an earlier one has only its own accesses', async () => {
    const { runtime } = await open();
    const path = join(world.cwd, 'notes', 'a.txt');
    for (const expected of [1, 2]) {
      await runtime.execute([{ toolCallId: 'c', name: 'read', args: { path } }], {
        sessionId: 's',
      });
      const accesses = spans().filter(({ name }) => name === 'fs_reach.read read');
      expect(accesses).toHaveLength(expected);
    }
  });

  it('that was denied says so, and so does its access', async () => {
    const { runtime } = await open();
    await runtime.execute([{ toolCallId: 'c', name: 'read', args: { path: '/etc/passwd' } }]);
    const call = spanOf('execute_tool read');
    expect(call?.status.code).toBe(SpanStatusCode.ERROR);
    expect(call?.attributes).toMatchObject({
      'error.type': 'PATH_NOT_REACHABLE',
      'ethos.outcome': 'execution_failed',
    });
    const access = spanOf('fs_reach.read read');
    expect(access?.attributes['ethos.access.decision']).toBe('denied');
    expect(access?.status.code).toBe(SpanStatusCode.ERROR);
    const metrics = await providers.metrics();
    expect(metrics['ethos.accesses']).toEqual([
      { attributes: expect.objectContaining({ 'ethos.access.decision': 'denied' }), value: 1 },
    ]);
    expect(metrics['ethos.calls']).toEqual([
      { attributes: expect.objectContaining({ 'ethos.outcome': 'PATH_NOT_REACHABLE' }), value: 1 },
    ]);
  });

  it('that was approved says by whom, and what it cost', async () => {
    const { runtime } = await open({}, { approve: () => ({ approved: true, by: 'ann' }) });
    await runtime.execute([{ toolCallId: 'c', name: 'pay', args: { amount: 3 } }]);
    expect(spanOf('execute_tool pay')?.attributes).toMatchObject({
      'ethos.approval.approved': true,
      'ethos.approval.by': 'ann',
      'ethos.cost.usd': 0.5,
    });
    const metrics = await providers.metrics();
    expect(metrics['ethos.tool.cost']?.[0]?.value).toBe(0.5);
    expect(metrics['ethos.approvals']?.[0]).toMatchObject({ value: 1 });
  });

  it('holds its arguments only where both the runtime and the telemetry are asked to', async () => {
    const args = { path: join(world.cwd, 'notes', 'a.txt') };
    const call = { toolCallId: 'c', name: 'read', args };
    const held = async (options: TelemetryOptions, runtimeOptions: Partial<ToolRuntimeOptions>) => {
      providers.spans.reset();
      const { runtime } = await open(options, runtimeOptions);
      await runtime.execute([call]);
      return spanOf('execute_tool read')?.attributes['gen_ai.tool.call.arguments'];
    };
    expect(await held({}, { auditArguments: true })).toBeUndefined();
    expect(await held({ arguments: true }, {})).toBeUndefined();
    expect(await held({ arguments: true }, { auditArguments: true })).toBe(JSON.stringify(args));
  });

  it('holds its result only where both are asked to, and without the secrets of the call', async () => {
    const call = { toolCallId: 'c', name: 'tell', args: {} };
    const held = async (options: TelemetryOptions, runtimeOptions: Partial<ToolRuntimeOptions>) => {
      providers.spans.reset();
      const { runtime } = await open(options, runtimeOptions);
      await runtime.execute([call]);
      return spanOf('execute_tool tell')?.attributes['gen_ai.tool.call.result'];
    };
    expect(await held({}, { auditResults: true })).toBeUndefined();
    expect(await held({ results: true }, {})).toBeUndefined();
    expect(await held({ results: true }, { auditResults: true })).toBe('it is [secret:api/key]');
  });

  it('says in how many places a secret was taken out of its result, whatever else it holds', async () => {
    const { runtime } = await open();
    await runtime.execute([{ toolCallId: 'c', name: 'tell', args: {} }]);
    expect(spanOf('execute_tool tell')?.attributes['ethos.redactions']).toBe(1);
    const args = { path: join(world.cwd, 'notes', 'a.txt') };
    await runtime.execute([{ toolCallId: 'd', name: 'read', args }]);
    expect(spanOf('execute_tool read')?.attributes).not.toHaveProperty('ethos.redactions');
  });

  it('that waited for its approval says how long, also where it waited in its session', async () => {
    let now = 1_000_000;
    const limits = { now: () => now };
    const approve = async () => {
      now += 2_500;
      return { approved: true };
    };
    const { runtime } = await open({}, { approve, limits });
    await runtime.execute([{ toolCallId: 'c', name: 'pay', args: { amount: 3 } }]);
    expect(spanOf('execute_tool pay')?.attributes['ethos.approval.waited']).toBe(2.5);
    const later = runtime.session('s', { approve: () => 'later' });
    await later.execute([{ toolCallId: 'd', name: 'pay', args: { amount: 3 } }]);
    const [approval] = await later.pending();
    if (approval === undefined) throw new Error('nothing waits');
    now += 60_000;
    await later.decide(approval, { approved: false });
    await later.resume();
    const waits = (await providers.metrics())['ethos.approval.wait'];
    expect(waits).toEqual([
      {
        attributes: { 'gen_ai.tool.name': 'pay', 'ethos.approval.approved': true },
        value: expect.objectContaining({ count: 1, sum: 2.5 }),
      },
      {
        attributes: { 'gen_ai.tool.name': 'pay', 'ethos.approval.approved': false },
        value: expect.objectContaining({ count: 1, sum: 60 }),
      },
    ]);
  });

  it('of a tool that there is not makes no name of its own', async () => {
    const { runtime } = await open();
    const names = Array.from({ length: 20 }, (_, index) => `made_up_${index}\u001b[2J`);
    await runtime.execute(names.map((name, index) => ({ toolCallId: `${index}`, name, args: {} })));
    expect(new Set(spans().map(({ name }) => name))).toEqual(new Set(['execute_tool (unknown)']));
    expect((await providers.metrics())['ethos.calls']).toHaveLength(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
    expect(JSON.stringify(spans().map((span) => span.attributes))).not.toMatch(/\\u001b|\x1b/);
  });

  it('is below what is active, and two at once are below their own', async () => {
    context.setGlobalContextManager(providers.contexts);
    onTestFinished(() => context.disable());
    const { runtime } = await open();
    const args = { path: join(world.cwd, 'notes', 'a.txt') };
    const parents = await Promise.all(
      ['one', 'two'].map((name) =>
        providers.tracer.startActiveSpan(name, async (span) => {
          await runtime.execute([{ toolCallId: name, name: 'read', args }], { sessionId: name });
          span.end();
          return span.spanContext().spanId;
        }),
      ),
    );
    const ofCall = (id: string) =>
      spans().find(
        (span) =>
          span.attributes['gen_ai.tool.call.id'] === id && span.name === 'execute_tool read',
      );
    expect(['one', 'two'].map((id) => ofCall(id)?.parentSpanContext?.spanId)).toEqual(parents);
  });

  it('has no second span where the framework has one for it that is active', async () => {
    context.setGlobalContextManager(providers.contexts);
    onTestFinished(() => context.disable());
    const { runtime } = await open();
    const args = { path: join(world.cwd, 'notes', 'a.txt') };
    const attributes = { 'ai.operationId': 'ai.toolCall' };
    await providers.tracer.startActiveSpan('ai.toolCall', { attributes }, async (span) => {
      await runtime.execute([{ toolCallId: 'c', name: 'read', args }]);
      span.end();
    });
    expect(spanOf('execute_tool read')).toBeUndefined();
    expect(spanOf('ai.toolCall')?.attributes['ethos.outcome']).toBe('ok');
    const access = spanOf('fs_reach.read read');
    expect(access?.parentSpanContext?.spanId).toBe(spanOf('ai.toolCall')?.spanContext().spanId);
  });

  it('runs as it would where the exporter throws', async () => {
    const broken = () => {
      throw new TypeError('broken');
    };
    const instrument = { add: broken, record: broken };
    const meter = {
      ...providers.meter,
      createCounter: () => instrument,
      createHistogram: () => instrument,
    };
    const tracer = { startSpan: broken, startActiveSpan: broken };
    const { runtime } = await open({
      tracer: tracer satisfies Tracer,
      meter: meter as unknown as Meter,
    });
    const args = { path: join(world.cwd, 'notes', 'a.txt') };
    const [answer] = await runtime.execute([{ toolCallId: 'c', name: 'read', args }]);
    expect(answer?.result.ok).toBe(true);
  });
});

describe('a turn', () => {
  const usage = {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  };

  it('is a span invoke_agent, with one chat for each step and its calls below it', async () => {
    const { tracer, meter } = providers;
    const telemetry = createTelemetry({ tracer, meter });
    const path = join(world.cwd, 'notes', 'a.txt');
    const steps: StreamPart[][] = [
      [
        {
          type: 'tool-call' as const,
          toolCallId: 'c1',
          toolName: 'read',
          input: JSON.stringify({ path }),
        },
        {
          type: 'finish' as const,
          finishReason: { unified: 'tool-calls', raw: '' } as const,
          usage,
        },
      ],
      [
        { type: 'text-start' as const, id: 't' },
        { type: 'text-delta' as const, id: 't', delta: 'Done.' },
        { type: 'text-end' as const, id: 't' },
        { type: 'finish' as const, finishReason: { unified: 'stop', raw: '' } as const, usage },
      ],
    ];
    const model = new MockLanguageModelV3({
      doStream: async () => ({ stream: convertArrayToReadableStream(steps.shift() ?? []) }),
    });
    const { home, cwd, tools } = world;
    const { loop, close } = await createAgent({
      home,
      cwd,
      tools,
      personality: 'reader',
      model,
      audit: [telemetry.sink],
    });
    onTestFinished(close);
    const events: string[] = [];
    const turn = loop.run({ sessionId: 's', prompt: 'Go' });
    for await (const event of telemetry.traceTurn(turn, { agent: 'reader', model: 'mock' })) {
      events.push(event.type);
    }
    expect(events.at(-1)).toBe('done');
    const agent = spanOf('invoke_agent reader');
    expect(agent?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'ethos.turn.end': 'answered',
      'ethos.turn.calls': 1,
    });
    const chats = spans().filter(({ name }) => name === 'chat mock');
    expect(chats.map((span) => span.attributes['gen_ai.usage.input_tokens'])).toEqual([10, 10]);
    const children = [...chats, spanOf('execute_tool read')];
    expect(children.map((span) => span?.parentSpanContext?.spanId)).toEqual(
      children.map(() => agent?.spanContext().spanId),
    );
    expect((await providers.metrics())['gen_ai.client.token.usage']).toHaveLength(2);
  });

  it('ends its spans where its reader leaves', async () => {
    const telemetry = createTelemetry({ tracer: providers.tracer });
    async function* events() {
      yield { type: 'start' as const, sessionId: 's' };
      yield { type: 'step' as const };
      yield { type: 'text' as const };
    }
    for await (const event of telemetry.traceTurn(events())) if (event.type === 'text') break;
    expect(spans().map(({ name }) => name)).toEqual(['chat', 'invoke_agent']);
  });

  it('passes on events that it does not know, and those that lack what it reads', async () => {
    const telemetry = createTelemetry({ tracer: providers.tracer });
    const given = [
      { type: 'start' },
      { type: 'start', sessionId: 's' },
      { type: 'step', step: 1 },
      { type: 'usage' },
      { type: 'newer', at: 1 },
      { type: 'error' },
      { type: 'done' },
    ];
    async function* events() {
      yield* given;
    }
    const got: unknown[] = [];
    for await (const event of telemetry.traceTurn(events())) got.push(event);
    expect(got).toEqual(given);
    expect(spans().map(({ name }) => name)).toEqual(['chat', 'invoke_agent']);
    expect(spanOf('invoke_agent')?.status.code).toBe(SpanStatusCode.ERROR);
  });
});

describe('without a provider', () => {
  it('nothing is recorded, and everything runs', async () => {
    const telemetry = createTelemetry();
    const { home, cwd, tools } = world;
    const runtime = await createToolRuntime({
      home,
      cwd,
      tools,
      personality: 'reader',
      audit: [telemetry.sink],
    });
    onTestFinished(() => runtime.close());
    const args = { path: join(cwd, 'notes', 'a.txt') };
    const [answer] = await runtime.execute([{ toolCallId: 'c', name: 'read', args }]);
    expect(answer?.result.ok).toBe(true);
  });
});

it('records what comes once the program has set up its providers, also after it was made', async () => {
  const { sink } = createTelemetry();
  onTestFinished(() => {
    trace.disable();
    metrics.disable();
  });
  trace.setGlobalTracerProvider(providers.provider);
  metrics.setGlobalMeterProvider(providers.meters);
  const { runtime } = await open({}, { audit: [sink] });
  const args = { path: join(world.cwd, 'notes', 'a.txt') };
  await runtime.execute([{ toolCallId: 'c', name: 'read', args }]);
  expect(spanOf('execute_tool read')).toBeDefined();
  expect(spans().some(({ name }) => name.startsWith('fs_reach.read '))).toBe(true);
  expect((await providers.metrics())['ethos.calls']?.[0]?.value).toBe(1);
});

describe('an OTLP receiver', () => {
  it('gets the spans over a socket', async () => {
    let received: (body: string) => void;
    const body = new Promise<string>((resolve) => {
      received = resolve;
    });
    const server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        response.end('{}');
        received(`${request.url} ${text}`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${port}/v1/traces` });
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    onTestFinished(() => provider.shutdown());
    const { runtime } = await open({ tracer: provider.getTracer('otlp') });
    await runtime.execute([{ toolCallId: 'c9', name: 'pay', args: {} }]);
    const text = await body;
    expect(text).toMatch(/^\/v1\/traces \{/);
    expect(text).toContain('execute_tool pay');
  });
});
