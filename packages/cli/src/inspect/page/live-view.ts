import { costOf, counted, dateOf, durationOf, timeOf } from '../format.js';
import type { CallRow, EventPage } from '../inspect-api.js';
import { visibleLine } from '../visible.js';
import { whatOf } from './audit-view.js';
import type { Client } from './client.js';
import { add, type Child, facts, field, fill, h } from './dom.js';
import type { View } from './view.js';
import { VirtualTable } from './virtual-table.js';

const MAX_CALLS = 20_000;

/** Calls as they happen, the newest first, each with its place on a common time line. */
export function liveView(client: Client, onError: (error: unknown) => void): View {
  const text = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const session = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const bad = h('input', { type: 'checkbox' });
  const status = h('p', { role: 'status', class: 'muted' });
  const axis = h('p', { class: 'axis muted' });
  const details = h('section', {
    class: 'details',
    tabindex: 0,
    'aria-label': 'Call',
    'aria-live': 'polite',
  });
  const calls = new Map<number, CallRow>();
  let shown: CallRow[] = [];
  let span = { from: 0, to: 1 };

  const table = new VirtualTable<CallRow>({
    label: 'Calls',
    columns: [
      { name: 'Begin', class: 'c-time', cell: ({ startedAt }) => timeOf(startedAt) },
      { name: 'Tool', class: 'c-tool', cell: ({ toolName }) => visibleLine(toolName, 60) },
      { name: 'Outcome', class: 'c-decision', cell: outcomeOf },
      {
        name: 'Time',
        class: 'c-number',
        cell: (row) => (isOver(row) ? durationOf(row.durationMs) : ''),
      },
      { name: 'Cost', class: 'c-number', cell: ({ costUsd }) => costOf(costUsd) },
      { name: 'Time line', class: 'c-bar', cell: (row) => barOf(row, span) },
      { name: 'Session', class: 'c-session', cell: ({ sessionId }) => visibleLine(sessionId, 40) },
    ],
    rowClass: (row) => (isBad(row) ? 'bad' : isOver(row) ? '' : 'open'),
    onShown: (from, to) => {
      span = spanOf(shown.slice(from, to));
      fill(axis, `${dateOf(span.from)} to ${dateOf(span.to)}`);
    },
    onChosen: (row) => showCall(row),
  });

  const draw = () => {
    const word = text.value.toLowerCase();
    const wanted = session.value;
    const before = shown[0]?.id ?? 0;
    shown = [...calls.values()]
      .filter(
        (row) =>
          (wanted === '' || row.sessionId === wanted) &&
          (!bad.checked || isBad(row)) &&
          (word === '' ||
            `${row.toolName} ${row.sessionId} ${row.personalityId}`.toLowerCase().includes(word)),
      )
      .sort((a, b) => b.id - a.id);
    const more = shown.findIndex(({ id }) => id === before);
    if (more > 0) table.shift(more);
    fill(status, counted(shown.length, 'call'));
    table.setRows(shown.length, (index) => shown[index]);
  };
  const take = (rows: readonly CallRow[]) => {
    for (const row of rows) {
      const known = calls.get(row.id);
      // The answer to a request may be older than an event that arrived meanwhile.
      if (known === undefined || progressOf(row) >= progressOf(known)) calls.set(row.id, row);
    }
    for (const id of calls.keys()) {
      if (calls.size <= MAX_CALLS) break;
      calls.delete(id);
    }
    draw();
  };
  const load = async () => {
    try {
      const { calls: found } = await client.get<{ calls: CallRow[] }>('/api/calls');
      take(found.reverse());
    } catch (error) {
      onError(error);
    }
  };
  const showCall = async (row: CallRow) => {
    fill(details, ...callDetails(row));
    const { sessionId, toolName, toolCallId } = row;
    try {
      const { events } = await client.get<EventPage>('/api/events', {
        session: sessionId,
        tool: toolName,
        call: toolCallId,
        kind: 'access',
        limit: 200,
      });
      const items = events
        .reverse()
        .map(({ event }) =>
          h(
            'li',
            { class: 'decision' in event && event.decision === 'denied' ? 'bad' : '' },
            'decision' in event ? `${event.decision}: ` : '',
            h('bdi', {}, whatOf(event)),
            'reason' in event && h('span', { class: 'muted' }, ` ${event.reason}`),
            ...('why' in event && event.why !== undefined
              ? [event.why.declared, ...event.why.policy].map((line) =>
                  h('code', { class: 'line muted' }, line),
                )
              : []),
          ),
        );
      fill(details, ...callDetails(row));
      if (items.length > 0) add(details, h('h3', {}, 'Accesses'), h('ol', {}, ...items));
    } catch (error) {
      onError(error);
    }
  };
  for (const input of [text, session, bad]) input.addEventListener('input', draw);
  fill(details, h('p', { class: 'muted' }, 'Choose a call to see what it touched.'));
  let isLoaded = false;
  return {
    element: h(
      'div',
      { class: 'view' },
      h(
        'div',
        { class: 'filters' },
        field('Tool or session', text),
        field('Only the session', session),
        h('label', { class: 'check' }, bad, 'Only failed and refused'),
        status,
      ),
      axis,
      h('div', { class: 'split' }, table.element, details),
    ),
    show() {
      if (isLoaded) table.draw();
      else void load();
      isLoaded = true;
    },
    search: text,
    onMessage(message) {
      if (message.type === 'calls' && isLoaded) take(message.calls);
    },
    onConnected() {
      if (isLoaded) void load();
    },
  };
}

/** Returns how much of a call is known, as a number to compare. */
function progressOf(row: CallRow): number {
  return 2 * row.accesses + (isOver(row) ? 1 : 0);
}

function isOver({ endedAt }: CallRow): boolean {
  return endedAt !== undefined;
}

function isBad({ outcome, denied }: CallRow): boolean {
  return denied > 0 || (outcome !== undefined && outcome !== 'ok');
}

/** The outcome of a call in a few words. */
export function outcomeOf({ outcome, gate, approval }: CallRow): string {
  if (outcome === undefined) return 'no answer yet';
  const how = approval === undefined ? '' : approval.approved ? ', approved' : ', refused';
  return gate === undefined ? `${outcome}${how}` : `stopped: ${gate}${how}`;
}

function callDetails(row: CallRow): Child[] {
  const { approval } = row;
  return [
    h('h2', {}, visibleLine(row.toolName, 100)),
    facts([
      ['Outcome', outcomeOf(row)],
      ['Why', row.cause],
      ['Begin', dateOf(row.startedAt)],
      ['Time', durationOf(row.durationMs)],
      ['Cost', costOf(row.costUsd)],
      ['Accesses', `${row.accesses}, ${row.denied} denied`],
      ['Asked because', approval?.reason],
      ['Decided by', approval?.by],
      ['Session', h('bdi', {}, row.sessionId)],
      ['Personality', row.personalityId],
      ['Call', h('bdi', {}, row.toolCallId)],
    ]),
  ];
}

interface Span {
  from: number;
  to: number;
}

/** From the first start to the last end of the calls in view. */
function spanOf(rows: readonly CallRow[]): Span {
  const from = Math.min(...rows.map(({ startedAt }) => startedAt));
  const to = Math.max(...rows.map(({ startedAt, endedAt = startedAt }) => endedAt));
  return { from, to: Math.max(to, from + 1) };
}

function barOf({ startedAt, endedAt = startedAt }: CallRow, { from, to }: Span): HTMLElement {
  const bar = h('span', { class: 'bar', 'aria-hidden': 'true' });
  const share = (ms: number) => `${Math.min(100, Math.max(0, (100 * ms) / (to - from)))}%`;
  bar.style.setProperty('inset-inline-start', share(startedAt - from));
  bar.style.setProperty('inline-size', share(endedAt - startedAt));
  return bar;
}
