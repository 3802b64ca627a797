import { isAnything, isBoolean, isOneOf, isShape, isString } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { type ToolRuntime, verifyRuntimeAudit } from '@ethosagent/wiring';
import { type PinnedServers, reachWithServers } from '../pinned-servers.js';
import { VERSION } from '../version.js';
import type { CallLog } from './call-log.js';
import type { EventStore } from './event-store.js';
import type { EventQuery, HomeState } from './inspect-api.js';
import type { InspectorRoute } from './inspector-server.js';
import { lockView } from './lock-view.js';
import { matrixOf } from './reach-matrix.js';
import { listSessions, readSession } from './session-view.js';
import type { WaitingApprovals } from './waiting-approvals.js';

export interface InspectorRoutesParts {
  home: string;
  /** The value of `${CWD}` in a personality. */
  cwd: string;
  runtime: ToolRuntime;
  /** The accepted tools of MCP servers. No server is started. */
  servers: Pick<PinnedServers, 'of'>;
  events: EventStore;
  calls: CallLog;
  approvals: WaitingApprovals;
  /** Reads the new events of the logs. */
  refresh(): Promise<void>;
}

const isDecision = isShape(
  {
    sessionId: isString,
    from: isOneOf(['session', 'agent']),
    toolCallId: isString,
    question: isString,
    approved: isBoolean,
  },
  { reason: isString, args: isAnything, always: isOneOf(['session', 'arguments', 'tool']) },
);

const isRemoval = isShape({ sessionId: isString, toolCallId: isString, question: isString });

/** The requests of the page, by method and path. */
export function inspectorRoutes({
  home,
  cwd,
  runtime,
  servers,
  events,
  calls,
  approvals,
  refresh,
}: InspectorRoutesParts): Readonly<Record<string, InspectorRoute>> {
  return {
    'GET /api/state': async (): Promise<HomeState> => {
      await refresh();
      return {
        home,
        version: VERSION,
        personality: runtime.personalityId,
        personalities: await runtime.personalities(),
        events: events.size,
      };
    },
    'GET /api/reach': async ({ query }) => {
      const id = query.get('personality') ?? runtime.personalityId;
      return matrixOf(runtime, await reachWithServers(runtime, servers, id), id);
    },
    'GET /api/lock': () => lockView(runtime, { home, cwd }),
    'GET /api/events': async ({ query }) => {
      await refresh();
      return events.search(eventQuery(query));
    },
    'GET /api/calls': async ({ query }) => {
      await refresh();
      return { calls: calls.newest(countOf(query, 'limit')) };
    },
    'GET /api/sessions': async () => ({ sessions: await listSessions(runtime.sessions) }),
    'GET /api/session': ({ query }) =>
      readSession(runtime.sessions, query.get('id') ?? '', countOf(query, 'after') ?? 0),
    'GET /api/approvals': () => approvals.list(),
    'POST /api/approvals': async ({ body }) => {
      if (!isDecision(body)) throw new EthosError('INPUT_INVALID', 'that is no decision');
      await approvals.decide(body);
      return approvals.list();
    },
    'POST /api/unfinished': async ({ body }) => {
      if (!isRemoval(body)) throw new EthosError('INPUT_INVALID', 'that names no unfinished call');
      await approvals.remove(body);
      return approvals.list();
    },
    'GET /api/verify': () => verifyRuntimeAudit(home),
  };
}

const TEXTS = ['text', 'session', 'tool', 'call', 'host'] as const;
const COUNTS = ['upTo', 'offset', 'limit'] as const;

/** @throws `INPUT_INVALID` */
function eventQuery(query: URLSearchParams): EventQuery {
  const asked: EventQuery = {};
  for (const name of TEXTS) {
    const value = query.get(name);
    if (value !== null && value !== '') asked[name] = value;
  }
  for (const name of COUNTS) {
    const value = countOf(query, name);
    if (value !== undefined) asked[name] = value;
  }
  const decision = query.get('decision');
  if (decision === 'allowed' || decision === 'denied') asked.decision = decision;
  const kind = query.get('kind');
  if (kind === 'access' || kind === 'call') asked.kind = kind;
  return asked;
}

/** @throws `INPUT_INVALID` */
function countOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (/^\d{1,12}$/.test(value)) return Number(value);
  throw new EthosError('INPUT_INVALID', `${name} is not a whole number`);
}
