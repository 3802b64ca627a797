import { join } from 'node:path';
import { AuditLogReader } from '@ethosagent/audit';
import type { ToolRuntime } from '@ethosagent/wiring';
import type { PinnedServers } from '../pinned-servers.js';
import { CallLog } from './call-log.js';
import { EventStore } from './event-store.js';
import { inspectorRoutes } from './inspector-routes.js';
import { type InspectorServer, startInspectorServer } from './inspector-server.js';
import { LiveStreams } from './live-streams.js';
import { WaitingApprovals } from './waiting-approvals.js';

/** How often the logs and the stored questions are read while a page is open. */
const LOOK_EVERY_MS = 500;

export interface InspectorOptions {
  home: string;
  /** The value of `${CWD}` in a personality. */
  cwd: string;
  runtime: ToolRuntime;
  /** The accepted tools of MCP servers. No server is started. */
  servers: Pick<PinnedServers, 'of'>;
  /** Who decides, for the record. */
  by: string;
  /** If absent, a free port is used. */
  port?: number;
  pageFolder?: URL;
  onDefect(error: unknown): void;
}

/**
 * Opens the inspector of a home.
 * @throws `CONFIG_INVALID` if the port is taken
 */
export async function startInspector(options: InspectorOptions): Promise<InspectorServer> {
  const { home, cwd, runtime, servers, by, onDefect } = options;
  const events = new EventStore(new AuditLogReader(join(home, 'audit')));
  const calls = new CallLog();
  const streams = new LiveStreams();
  const approvals = new WaitingApprovals(runtime, by);
  let reading: Promise<void> | undefined;
  const refresh = () => {
    reading ??= readNew().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const readNew = async () => {
    const found = await events.refresh();
    if (found.length === 0) return;
    const changed = calls.add(found);
    streams.send({ type: 'events', newest: events.newest, held: events.size.held });
    streams.send({ type: 'calls', calls: changed });
  };
  let waiting = '';
  const look = async () => {
    await refresh();
    const list = await approvals.list();
    const now = JSON.stringify(
      [list.waiting, list.unfinished].map((calls) =>
        calls.map(({ sessionId, approval }) => [sessionId, approval.question]),
      ),
    );
    if (now !== waiting) streams.send({ type: 'approvals' });
    waiting = now;
  };
  let timer: NodeJS.Timeout | undefined;
  const lookAgain = () => {
    timer = setTimeout(async () => {
      if (streams.size > 0) await look().catch(onDefect);
      if (timer !== undefined) lookAgain();
    }, LOOK_EVERY_MS);
  };
  const { port, pageFolder } = options;
  const server = await startInspectorServer({
    routes: inspectorRoutes({ home, cwd, runtime, servers, events, calls, approvals, refresh }),
    streams,
    onDefect,
    ...(port !== undefined && { port }),
    ...(pageFolder !== undefined && { pageFolder }),
  });
  lookAgain();
  return {
    ...server,
    async close() {
      clearTimeout(timer);
      timer = undefined;
      await server.close();
    },
  };
}
