import type { AuditReport } from '@ethosagent/audit';
import { counted, durationOf, timeOf } from '../format.js';
import type { EventPage, HeldEvent } from '../inspect-api.js';
import { exactJson, visibleLine } from '../visible.js';
import type { Client } from './client.js';
import { button, facts, field, fill, h, select } from './dom.js';
import type { View } from './view.js';
import { VirtualTable } from './virtual-table.js';

const PAGE = 200;

/** The audit log, with search, pages and verification. */
export function auditView(client: Client, onError: (error: unknown) => void): View {
  const text = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const tool = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const session = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const host = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const decision = select([
    ['', 'Any'],
    ['allowed', 'Allowed'],
    ['denied', 'Denied'],
  ]);
  const kind = select([
    ['', 'Both'],
    ['access', 'Accesses'],
    ['call', 'Calls'],
  ]);
  const status = h('p', { role: 'status', class: 'muted' });
  const details = h('section', {
    class: 'details',
    tabindex: 0,
    'aria-label': 'Event',
    'aria-live': 'polite',
  });
  const verified = h('div', { role: 'status' });
  const fresh = button('Show new events', () => search(), { hidden: true });
  const pages = new Map<number, HeldEvent[] | 'asked'>();
  let page: EventPage = { total: 0, upTo: 0, events: [] };
  let searches = 0;
  let newest = 0;

  const table = new VirtualTable<HeldEvent>({
    label: 'Events',
    columns: [
      { name: 'Time', class: 'c-time', cell: ({ event }) => timeOf(Date.parse(event.time)) },
      { name: 'Tool', class: 'c-tool', cell: ({ event }) => visibleLine(event.toolName, 60) },
      { name: 'Decision', class: 'c-decision', cell: ({ event }) => decisionOf(event) },
      { name: 'What', class: 'c-what', cell: ({ event }) => h('bdi', {}, whatOf(event)) },
      {
        name: 'Session',
        class: 'c-session',
        cell: ({ event }) => visibleLine(event.sessionId, 40),
      },
    ],
    rowClass: ({ event }) => (isBad(event) ? 'bad' : ''),
    onShown: (from, to) => {
      for (let at = Math.floor(from / PAGE); at * PAGE < to; at += 1) need(at);
    },
    onChosen: (held) => fill(details, ...detailsOf(held)),
  });

  const query = () => ({
    text: text.value,
    tool: tool.value,
    session: session.value,
    host: host.value,
    decision: decision.value,
    kind: kind.value,
  });
  const need = (at: number) => {
    if (pages.has(at) || at * PAGE >= page.total) return;
    pages.set(at, 'asked');
    const asked = searches;
    client
      .get<EventPage>('/api/events', {
        ...query(),
        upTo: page.upTo,
        offset: at * PAGE,
        limit: PAGE,
      })
      .then(({ events }) => {
        if (asked !== searches) return;
        pages.set(at, events);
        table.draw();
      }, onError);
  };
  const rowAt = (index: number) => {
    const found = pages.get(Math.floor(index / PAGE));
    return Array.isArray(found) ? found[index % PAGE] : undefined;
  };
  const search = async () => {
    searches += 1;
    const asked = searches;
    try {
      const found = await client.get<EventPage>('/api/events', { ...query(), limit: PAGE });
      if (asked !== searches) return;
      page = found;
    } catch (error) {
      onError(error);
      return;
    }
    pages.clear();
    pages.set(0, page.events);
    fresh.hidden = newest <= page.upTo;
    fill(status, counted(page.total, 'event'));
    table.toTop();
    table.setRows(page.total, rowAt);
  };
  const verify = async () => {
    fill(verified, 'Verifying…');
    try {
      fill(verified, ...reportOf(await client.get<AuditReport>('/api/verify')));
    } catch (error) {
      fill(verified, error instanceof Error ? error.message : String(error));
    }
  };
  for (const input of [text, tool, session, host]) input.addEventListener('input', search);
  for (const input of [decision, kind]) input.addEventListener('change', search);
  fill(details, h('p', { class: 'muted' }, 'Choose an event to see all of it.'));
  return {
    element: h(
      'div',
      { class: 'view' },
      h(
        'div',
        { class: 'filters' },
        field('Text', text),
        field('Tool', tool),
        field('Session', session),
        field('Host', host),
        field('Decision', decision),
        field('Show', kind),
        button('Verify', verify),
        fresh,
        status,
      ),
      verified,
      h('div', { class: 'split' }, table.element, details),
    ),
    show: search,
    search: text,
    onMessage(message) {
      if (message.type !== 'events') return;
      newest = message.newest;
      fresh.hidden = searches === 0 || newest <= page.upTo;
    },
  };
}

type Logged = HeldEvent['event'];

function isBad(event: Logged): boolean {
  return 'kind' in event ? event.outcome !== 'ok' : event.decision === 'denied';
}

function decisionOf(event: Logged): string {
  if (!('kind' in event)) return event.decision;
  return event.gate === undefined ? `call ${event.outcome}` : `refused: ${event.gate}`;
}

/** Describes an event in one line. */
export function whatOf(event: Logged): string {
  if (!('kind' in event)) return visibleLine(`${event.operation} ${event.target}`);
  const { cause = '', dryRun, durationMs, gate } = event;
  return [dryRun === true && 'dry run', gate === undefined && durationOf(durationMs), cause]
    .filter(Boolean)
    .join(', ');
}

function detailsOf({ event, log, seq }: HeldEvent) {
  const known = Object.entries(event).filter(([name]) => name !== 'kind');
  return [
    h('h2', {}, visibleLine(event.toolName, 100)),
    facts([
      ['In the log', `${log}, event ${seq}`],
      ...known.map(([name, value]): [string, Node | string] => [
        name,
        typeof value === 'string' ? h('bdi', {}, value) : h('pre', {}, exactJson(value)),
      ]),
    ]),
  ];
}

function reportOf({ ok, events, problems, cannotTell }: AuditReport) {
  return [
    h(
      'p',
      { class: ok ? 'good' : 'warning' },
      ok
        ? `${counted(events, 'event')}, none changed, added or removed.`
        : `${counted(events, 'event')}, ${counted(problems.length, 'problem')}. Keep a copy of the log.`,
    ),
    problems.length > 0 &&
      h(
        'ul',
        {},
        ...problems
          .slice(0, 100)
          .map(({ what, file, line }) =>
            h('li', {}, `${what}: ${file}${line > 0 ? `:${line}` : ''}`),
          ),
      ),
    ...cannotTell.map((each) => h('p', { class: 'muted' }, each)),
  ];
}
