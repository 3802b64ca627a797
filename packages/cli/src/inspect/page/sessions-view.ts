import { costOf, counted, dateOf, durationOf } from '../format.js';
import type { EventPage, HeldEvent, MessageRow, SessionPage, SessionRow } from '../inspect-api.js';
import { argumentLines } from '../line-diff.js';
import { visibleLine } from '../visible.js';
import type { Client } from './client.js';
import { add, button, type Child, field, fill, h } from './dom.js';
import type { View } from './view.js';
import { VirtualTable } from './virtual-table.js';

/** How many messages are added to the page at once. */
const CHUNK = 100;
/** How many characters of a message are shown before somebody asks for the rest. */
const LONG_TEXT = 4_000;

type LoggedCall = Extract<HeldEvent['event'], { kind: 'call' }>;

/** The sessions of the home, and a conversation with its calls. */
export function sessionsView(client: Client, onError: (error: unknown) => void): View {
  const text = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const status = h('p', { role: 'status', class: 'muted' });
  const conversation = h('section', {
    class: 'details wide',
    tabindex: 0,
    'aria-label': 'Conversation',
  });
  let sessions: SessionRow[] = [];
  let shown: SessionRow[] = [];
  let opened = 0;

  const table = new VirtualTable<SessionRow>({
    label: 'Sessions',
    columns: [
      { name: 'Session', class: 'c-what', cell: ({ id, key }) => visibleLine(key ?? id, 80) },
      { name: 'Last message', class: 'c-date', cell: ({ lastMessageAt }) => dateOf(lastMessageAt) },
      { name: 'Messages', class: 'c-number', cell: ({ messageCount }) => messageCount },
    ],
    onChosen: (row) => open(row),
  });
  const draw = () => {
    const word = text.value.toLowerCase();
    shown = sessions.filter((row) =>
      `${row.id} ${row.key ?? ''} ${row.personalityId ?? ''}`.toLowerCase().includes(word),
    );
    fill(status, counted(shown.length, 'session'));
    table.setRows(shown.length, (index) => shown[index]);
  };
  const load = async () => {
    try {
      ({ sessions } = await client.get<{ sessions: SessionRow[] }>('/api/sessions'));
      draw();
    } catch (error) {
      onError(error);
    }
  };
  const open = async ({ id }: SessionRow) => {
    opened += 1;
    const asked = opened;
    try {
      const [first, { events }] = await Promise.all([
        client.get<SessionPage>('/api/session', { id }),
        client.get<EventPage>('/api/events', { session: id, kind: 'call', limit: 1_000 }),
      ]);
      if (asked !== opened) return;
      const calls = events.flatMap(({ event }) => ('kind' in event ? event : [])).reverse();
      showConversation(conversation, { client, onError, first, calls });
    } catch (error) {
      onError(error);
    }
  };
  text.addEventListener('input', draw);
  fill(conversation, h('p', { class: 'muted' }, 'Choose a session to read it.'));
  return {
    element: h(
      'div',
      { class: 'view' },
      h('div', { class: 'filters' }, field('Session', text), button('Reload', load), status),
      h('div', { class: 'split' }, table.element, conversation),
    ),
    show: load,
    search: text,
  };
}

interface ConversationParts {
  client: Client;
  onError: (error: unknown) => void;
  first: SessionPage;
  calls: readonly LoggedCall[];
}

/** Shows the messages page by page, with the outcome of each call. */
function showConversation(
  element: HTMLElement,
  { client, onError, first, calls }: ConversationParts,
): void {
  const { session } = first;
  const byId = new Map(calls.map((call) => [call.toolCallId, call]));
  const list = h('ol', { class: 'messages' });
  const told = new Set<string>();
  const waiting = [...calls];
  let page: SessionPage = first;
  let at = 0;
  const showMore = async () => {
    more.disabled = true;
    try {
      if (at >= page.messages.length && page.next !== undefined) {
        page = await client.get<SessionPage>('/api/session', { id: session.id, after: page.next });
        at = 0;
      }
      const chunk = page.messages.slice(at, at + CHUNK);
      at += chunk.length;
      for (const message of chunk) {
        for (const { id } of message.calls) told.add(id);
      }
      for (const message of chunk) {
        // Calls that no message names are shown at the time when they happened.
        while (waiting[0] !== undefined && Date.parse(waiting[0].time) < message.createdAt) {
          const call = waiting.shift();
          if (call !== undefined && !told.has(call.toolCallId)) add(list, callItem(call));
        }
        add(list, messageItem(message, byId));
      }
      const isDone = at >= page.messages.length && (page.next === undefined || chunk.length === 0);
      if (isDone) {
        for (const call of waiting.splice(0)) {
          if (!told.has(call.toolCallId)) add(list, callItem(call));
        }
      }
      more.hidden = isDone;
      if (!isDone && chunk.length < CHUNK) await showMore();
    } catch (error) {
      onError(error);
    } finally {
      more.disabled = false;
    }
  };
  const more = button('Show more messages', () => void showMore());
  fill(
    element,
    h('h2', {}, h('bdi', {}, visibleLine(session.key ?? session.id, 200))),
    h(
      'p',
      { class: 'muted' },
      `${counted(session.messageCount, 'message')} from ${dateOf(session.startedAt)}`,
      session.personalityId !== undefined && `, as ${session.personalityId}`,
    ),
    list,
    more,
  );
  void showMore();
}

function messageItem(
  { role, text, toolName, createdAt, calls }: MessageRow,
  byId: ReadonlyMap<string, LoggedCall>,
): HTMLElement | undefined {
  // Internal records of a turn have no text.
  if (text === '' && calls.length === 0) return undefined;
  return h(
    'li',
    { class: `message ${role}` },
    h(
      'h3',
      {},
      toolName === undefined ? role : `${role} ${visibleLine(toolName, 80)}`,
      h('span', { class: 'muted' }, ` ${dateOf(createdAt)}`),
    ),
    text !== '' && longText(text),
    ...calls.map(({ id, name, args }) =>
      h(
        'div',
        { class: 'call' },
        h(
          'h4',
          {},
          visibleLine(name, 100),
          h('span', { class: 'muted' }, ` ${resultOf(byId.get(id))}`),
        ),
        longText(argumentLines(args).join('\n')),
      ),
    ),
  );
}

function callItem(call: LoggedCall): HTMLElement {
  return h(
    'li',
    { class: 'message tool' },
    h(
      'h3',
      {},
      visibleLine(call.toolName, 100),
      h('span', { class: 'muted' }, ` ${resultOf(call)}`),
    ),
    'args' in call && longText(argumentLines(call.args).join('\n')),
  );
}

function resultOf(call: LoggedCall | undefined): string {
  if (call === undefined) return '';
  const { outcome, cause, dryRun, durationMs, costUsd, gate } = call;
  return [
    dryRun === true && 'dry run',
    gate === undefined ? outcome : `stopped: ${gate}`,
    cause,
    durationOf(durationMs),
    costOf(costUsd),
  ]
    .filter(Boolean)
    .join(', ');
}

function longText(text: string): Child {
  const pre = h('pre', { dir: 'auto' }, text.slice(0, LONG_TEXT).toWellFormed());
  if (text.length <= LONG_TEXT) return pre;
  const all = button(`Show all ${text.length.toLocaleString('en')} characters`, () => {
    fill(pre, text);
    all.remove();
  });
  return h('div', {}, pre, all);
}
