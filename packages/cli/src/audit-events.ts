import { join } from 'node:path';
import { AuditLogReader, type LoggedEvent, readAuditLogs } from '@ethosagent/audit';
import type { CommandContext } from './command-context.js';
import { type Output, safeLine } from './output.js';

/** The events of all logs of the home, in the order of their times. */
export function auditEvents({ home }: CommandContext): AsyncGenerator<LoggedEvent> {
  return readAuditLogs(join(home, 'audit'));
}

/** Reads the logs repeatedly, each time only the new events. */
export function auditLogReader({ home }: CommandContext): {
  reader: AuditLogReader;
  folder: string;
} {
  const folder = join(home, 'audit');
  return { reader: new AuditLogReader(folder), folder };
}

/**
 * Writes events as they come: a JSON value a line, or rows for people. A row begins with the time and the
 * id of the call, as `audit show` takes it. A line with the session is above the rows of each session.
 */
export function eventTeller({ out }: CommandContext): (logged: LoggedEvent) => void {
  let session: string | undefined;
  return ({ log, seq, event }) => {
    if (out.isJson) {
      out.jsonLine({ log, seq, ...event });
      return;
    }
    if (event.sessionId !== session) {
      session = event.sessionId;
      out.line(out.color.dim(`session ${safeLine(session)}`));
    }
    out.line(eventRow(event, out));
  };
}

function eventRow(event: Logged, { color }: Output): string {
  const { time, toolCallId, toolName } = event;
  const [what, which] = 'kind' in event ? callText(event) : accessText(event);
  const isBad = 'kind' in event ? event.outcome !== 'ok' : event.decision === 'denied';
  return [
    color.dim(safeLine(time)),
    safeLine(toolCallId),
    color.bold(safeLine(toolName, 60)),
    isBad ? color.red(what) : color.green(what),
    safeLine(which, 500),
  ].join('  ');
}

/**
 * The rule for a host that the tool does not declare. The documentation quotes its message without
 * a remedy, so the remedy is added here.
 */
const UNDECLARED_HOST = 'not in the host set';
const DECLARE_HOST =
  '; the tool does not declare this host and port: whoever wrote it can add them to capabilities.network.allowedHosts';

type Logged = LoggedEvent['event'];
type Call = Extract<Logged, { kind: 'call' }>;

function callText({ outcome, cause, dryRun, durationMs, gate, approval }: Call): [string, string] {
  const facts = [
    ...(dryRun === true ? ['dry run'] : []),
    ...(cause === undefined ? [] : [cause]),
    ...(gate === undefined ? [`${Math.round(durationMs)} ms`] : [`at the gate ${gate}`]),
    ...(approval === undefined
      ? []
      : [
          `${approval.approved ? 'approved' : 'refused'}${approval.by === undefined ? '' : ` by ${approval.by}`}`,
        ]),
  ];
  return [`call ${outcome}`, facts.join(', ')];
}

function accessText({
  decision,
  capability,
  operation,
  target,
  reason,
  why,
}: Exclude<Logged, Call>): [string, string] {
  const lines = why === undefined || why.policy.length === 0 ? '' : ` (${why.policy.join(', ')})`;
  const remedy = capability === 'network' && reason === UNDECLARED_HOST ? DECLARE_HOST : '';
  return [
    `${capability} ${decision}`,
    `${operation} ${target}${decision === 'denied' ? `: ${reason}${lines}${remedy}` : ''}`,
  ];
}
