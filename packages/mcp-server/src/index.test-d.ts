import { createToolRuntime } from '@ethosagent/wiring';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { fromMcp, type McpWaitingCall, serveHttp, serveStdio } from './index.js';

// What a user writes under `strict`, without a cast.
export async function inAProgram(token: string): Promise<string> {
  const client = new Client({ name: 'mine', version: '1' });
  const runtime = await createToolRuntime({
    home: '/srv/agent',
    personality: 'clerk',
    tools: ['read_file', ...(await fromMcp(client, { server: 'wiki', approval: false }))],
  });
  const stdio = await serveStdio(runtime, { sessionId: 'mine', limits: { maxCalls: 10 } });
  await stdio.closed;
  const decide = ({ sessionId, approval }: McpWaitingCall) =>
    runtime.session(sessionId).decide(approval, { approved: false });
  const http = await serveHttp(runtime, {
    clients: { ann: { token, personality: 'clerk', identity: { userScopeId: 'ann' } } },
    approvals: 'session',
    onWaiting: (waiting) => void decide(waiting),
    onSession: ({ kind, client, sessionId }) => console.error(kind, client, sessionId),
  });
  return http.url;
}
