import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { inCheck } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInspectedHome } from './fixtures/inspected-home.js';
import { openInspector, type RunningInspector, signIn } from './fixtures/open-inspector.js';

let world: ReturnType<typeof openInspectedHome>;
let inspector: RunningInspector | undefined;
beforeEach(() => {
  world = openInspectedHome();
});
afterEach(async () => {
  await inspector?.stop();
  inspector = undefined;
  world.remove();
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

describe('inspect', () => {
  it.each([
    ['0', 'is not a port'],
    ['x', 'is not a port'],
    ['65536', 'is not a port'],
  ])('refuses --port %s', async (port, hint) => {
    const { code, err } = await world.run(['inspect', '--port', port]);
    expect([code, err]).toEqual([2, expect.stringContaining(hint)]);
  });

  it('says which port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const { code, err } = await world.run(['inspect', '--port', port], { isTerminal: true });
    expect(code).toBe(2);
    expect(err).toContain(`the port ${port} is taken by another program; name another with --port`);
    await new Promise((resolve) => taken.close(resolve));
  });

  it('prints its address at a terminal, or for a program that asks for JSON, and nowhere else', async () => {
    const refused = await world.run(['inspect']);
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--json') });
    const controller = new AbortController();
    const shown = await world.run(['inspect'], {
      isTerminal: true,
      signal: controller.signal,
      out: () => controller.abort(),
    });
    expect(shown.code).toBe(0);
  });

  it('leaves the log of the agent to the agent, and writes none of its own', async () => {
    inspector = await openInspector(world);
    const ask = await signIn(inspector);
    expect((await ask('/api/state')).value.events).toEqual({ held: 0, older: 0 });
    const agent = await world.openRuntime();
    await agent
      .session('s')
      .execute([{ toolCallId: 'c', name: 'read_file', args: { path: 'notes/a.txt' } }]);
    expect((await ask('/api/calls')).value.calls).toMatchObject([{ toolName: 'read_file' }]);
    await agent.close();
    expect(
      readdirSync(join(world.home, 'audit')).filter((name) => name.endsWith('.jsonl')),
    ).toEqual(['audit.jsonl']);
    expect((await ask('/api/verify')).value.ok).toBe(true);
  });

  it('writes its token and its key to no file', async () => {
    inspector = await openInspector(world);
    const ask = await signIn(inspector);
    await ask('/api/approvals');
    const token = new URL(inspector.url).hash.replace('#token=', '');
    for (const file of filesIn(world.home)) expect(readFileSync(file).includes(token)).toBe(false);
  });

  it('shows no secret', async () => {
    world.write('.ethos/secrets/providers/search/key', 'sk-very-secret\n');
    inspector = await openInspector(world);
    const ask = await signIn(inspector);
    for (const path of ['state', 'reach', 'events', 'calls', 'sessions', 'approvals']) {
      const { status, value } = await ask(`/api/${path}`);
      expect([path, status, JSON.stringify(value).includes('very-secret')]).toEqual([
        path,
        200,
        false,
      ]);
    }
  });

  const decisions: [unknown][] = [
    [{}],
    [{ sessionId: 's', from: 'session', toolCallId: 'c', question: 'q', approved: 'yes' }],
    [{ sessionId: 's', from: 'other', toolCallId: 'c', question: 'q', approved: true }],
    [
      {
        sessionId: 's',
        from: 'session',
        toolCallId: 'c',
        question: 'q',
        approved: true,
        always: 'ever',
      },
    ],
    [{ sessionId: 's', from: 'session', toolCallId: 'c', question: 'q', approved: true }],
    [{ sessionId: 's', from: 'agent', toolCallId: 'c', question: 'q', approved: true }],
    [[]],
    [null],
  ];
  it.each(inCheck(decisions, ([decision]) => JSON.stringify(decision).includes('true')))(
    'refuses the decision %j',
    async (decision) => {
      inspector = await openInspector(world);
      const ask = await signIn(inspector);
      const { status, value } = await ask('/api/approvals', decision);
      expect([status, value]).toEqual([
        409,
        { error: expect.objectContaining({ code: expect.any(String) }) },
      ]);
    },
  );

  it('decides nothing on a question that was asked anew', async () => {
    const agent = await world.openRuntime();
    const session = agent.session('s');
    await session.addSource({ source: 'https://evil.example', tool: 'fetch_url' });
    const write = (content: string) => ({
      toolCallId: 'w',
      name: 'write_file',
      args: { path: 'notes/b.txt', content },
    });
    await session.execute([write('one')]);
    inspector = await openInspector(world);
    const ask = await signIn(inspector);
    const list = async () => {
      const { value } = await ask('/api/approvals');
      const waiting: { approval: { question: string; toolCallId: string } }[] =
        Object(value).waiting;
      return waiting;
    };
    const [seen] = await list();
    await session.execute([write('two')]);
    const decided = await ask('/api/approvals', {
      sessionId: 's',
      from: 'session',
      toolCallId: 'w',
      question: seen?.approval.question,
      approved: true,
    });
    expect([decided.status, decided.value.error]).toEqual([
      409,
      expect.objectContaining({ code: 'APPROVAL_INVALID' }),
    ]);
    expect((await list()).length).toBe(1);
    await agent.close();
  });

  it('tells of a session that can not be read, and shows the others', async () => {
    const agent = await world.openRuntime();
    const session = agent.session('s');
    await session.addSource({ source: 'https://evil.example', tool: 'fetch_url' });
    await session.execute([
      { toolCallId: 'w', name: 'write_file', args: { path: 'notes/b.txt', content: 'x' } },
    ]);
    await agent.sessions.append({ id: 'protections of session broken', scopeId: 'protections' }, [
      { role: 'system', text: '', data: { v: 1, kind: 'nonsense' } },
    ]);
    inspector = await openInspector(world);
    const ask = await signIn(inspector);
    expect((await ask('/api/approvals')).value).toMatchObject({
      waiting: [{ sessionId: 's', from: 'session', personalityId: 'coder' }],
      problems: [expect.stringContaining('can not be read')],
    });
    await agent.close();
  });
});
