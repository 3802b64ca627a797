import { counted, dateOf, UNFINISHED } from '../format.js';
import type { Decision, Removal, UnfinishedRow, WaitingList, WaitingRow } from '../inspect-api.js';
import { argumentLines, lineDiff } from '../line-diff.js';
import { exactJson, visibleLine } from '../visible.js';
import type { Client } from './client.js';
import { button, type Child, facts, field, fill, h, select } from './dom.js';
import type { View } from './view.js';

const ALWAYS: Readonly<Record<string, string>> = {
  session: 'Always in this session',
  arguments: 'Always with these arguments',
  tool: 'Always for this tool',
};

export interface ApprovalsViewParts {
  client: Client;
  onError: (error: unknown) => void;
  /** Called with the number of waiting calls. */
  onCount: (waiting: number) => void;
}

/**
 * The waiting calls: what each would run and change, with buttons for a decision. Below them, the
 * calls that may have run.
 */
export function approvalsView({ client, onError, onCount }: ApprovalsViewParts): View {
  const status = h('p', { role: 'status', class: 'muted' });
  const list = h('div', { class: 'cards' });
  const cards = new Map<string, HTMLElement>();
  let isLoading = false;
  let isOutdated = false;

  const draw = ({ waiting, unfinished, problems }: WaitingList) => {
    onCount(waiting.length);
    fill(
      status,
      waiting.length === 0 ? 'Nothing waits.' : `${counted(waiting.length, 'call')} to decide on.`,
    );
    const now = new Map<string, () => HTMLElement>();
    for (const row of waiting) now.set(keyOf(row), () => waitingCard(row, decide));
    for (const row of unfinished) now.set(`begun ${keyOf(row)}`, () => unfinishedCard(row, remove));
    for (const [key, card] of cards) {
      if (now.has(key)) continue;
      card.remove();
      cards.delete(key);
    }
    // A card stays in its place while somebody types into it.
    for (const [key, create] of now) {
      if (cards.has(key)) continue;
      const card = create();
      cards.set(key, card);
      list.append(card);
    }
    for (const problem of list.querySelectorAll('.problem')) problem.remove();
    for (const problem of problems) list.append(h('p', { class: 'warning problem' }, problem));
  };
  const load = async () => {
    isOutdated = true;
    if (isLoading) return;
    isLoading = true;
    try {
      // If something changes during the request, it is repeated.
      while (isOutdated) {
        isOutdated = false;
        draw(await client.get<WaitingList>('/api/approvals'));
      }
    } catch (error) {
      onError(error);
    } finally {
      isLoading = false;
    }
  };
  const post = async (path: string, body: Decision | Removal) => {
    draw(await client.post<WaitingList>(path, body));
    status.focus();
    // The request that is running may bring an older list.
    if (isLoading) isOutdated = true;
  };
  const decide = (decision: Decision) => post('/api/approvals', decision);
  const remove = (removal: Removal) => post('/api/unfinished', removal);
  status.tabIndex = -1;
  return {
    element: h('div', { class: 'view' }, status, h('div', { class: 'scroll' }, list)),
    show: load,
    onMessage(message) {
      if (message.type === 'approvals') void load();
    },
    onConnected: () => void load(),
  };
}

function keyOf({ sessionId, approval }: WaitingRow | UnfinishedRow): string {
  return JSON.stringify([sessionId, approval.toolCallId, approval.question]);
}

let cards = 0;

function waitingCard(
  { sessionId, from, personalityId, approval, sources, always }: WaitingRow,
  decide: (decision: Decision) => Promise<void>,
): HTMLElement {
  const { toolCallId, question, toolName, args, input, reason, capabilities, askedAt } = approval;
  cards += 1;
  const proposed = exactJson(args);
  const edit = h('textarea', {
    rows: Math.min(16, proposed.split('\n').length + 1),
    spellcheck: 'false',
  });
  edit.value = proposed;
  const why = h('input', { type: 'text', autocomplete: 'off' });
  const scope = select([
    ['', 'Only this call'],
    ...always.map((each): [string, string] => [each, ALWAYS[each] ?? each]),
  ]);
  const problem = h('p', { role: 'alert', class: 'warning' });
  const diff = h('div', { class: 'diff', role: 'group', 'aria-label': 'What would run' });
  const yes = button('Yes, run it', () => void send(true), { class: 'yes' });
  const no = button('No', () => void send(false), { class: 'no' });

  const edited = (): { args?: unknown } | undefined => {
    if (edit.value === proposed) return {};
    try {
      return { args: JSON.parse(edit.value) };
    } catch {
      return undefined;
    }
  };
  const draw = () => {
    const now = edited();
    fill(problem, now === undefined ? 'These arguments are not JSON.' : '');
    yes.disabled = now === undefined;
    if (now === undefined) return;
    const before = argumentLines(args);
    fill(diff, ...diffLines(before, 'args' in now ? argumentLines(now.args) : before));
  };
  const send = async (approved: boolean) => {
    const now = edited();
    if (approved && now === undefined) return;
    yes.disabled = true;
    no.disabled = true;
    try {
      await decide({
        sessionId,
        from,
        toolCallId,
        question,
        approved,
        ...(why.value !== '' && { reason: why.value }),
        ...(approved && now),
        ...(approved && isScope(scope.value) && { always: scope.value }),
      });
    } catch (error) {
      fill(problem, error instanceof Error ? error.message : String(error));
      yes.disabled = false;
      no.disabled = false;
    }
  };
  edit.addEventListener('input', draw);
  draw();
  const id = `waiting-${cards}`;
  return h(
    'article',
    { class: 'card', 'aria-labelledby': id },
    h('h2', { id }, visibleLine(toolName, 100)),
    h('p', {}, h('bdi', {}, reason)),
    facts([
      ['Session', h('bdi', {}, sessionId)],
      ['Personality', personalityId],
      ['Asked', dateOf(askedAt)],
      [
        'It has read',
        sources
          .slice(0, 10)
          .map(({ source, tool }) => h('div', {}, h('bdi', {}, source), ` (${tool})`)),
      ],
    ]),
    h('h3', {}, 'What would run'),
    diff,
    h(
      'details',
      {},
      h('summary', {}, 'Change the arguments'),
      field('The arguments as JSON', edit),
    ),
    exactJson(input) !== proposed &&
      h(
        'details',
        {},
        h('summary', {}, 'As the model wrote the arguments'),
        h('pre', {}, exactJson(input)),
      ),
    h(
      'details',
      {},
      h('summary', {}, 'What the call may touch'),
      h('pre', {}, exactJson(capabilities)),
    ),
    problem,
    h(
      'div',
      { class: 'filters' },
      yes,
      no,
      field('Holds for', scope),
      field('Reason, for the model', why),
    ),
  );
}

function unfinishedCard(
  { sessionId, personalityId, approval, begunAt }: UnfinishedRow,
  remove: (removal: Removal) => Promise<void>,
): HTMLElement {
  const { toolCallId, question, toolName, args } = approval;
  cards += 1;
  const id = `waiting-${cards}`;
  const problem = h('p', { role: 'alert', class: 'warning' });
  const taken = button('Remove from the list', async () => {
    taken.disabled = true;
    try {
      await remove({ sessionId, toolCallId, question });
    } catch (error) {
      fill(problem, error instanceof Error ? error.message : String(error));
      taken.disabled = false;
    }
  });
  return h(
    'article',
    { class: 'card', 'aria-labelledby': id },
    h('h2', { id }, `${visibleLine(toolName, 100)} has no recorded end`),
    h('p', {}, `${UNFINISHED} The audit log shows what it reached, if anything.`),
    facts([
      ['Session', h('bdi', {}, sessionId)],
      ['Personality', personalityId],
      ['Call', h('bdi', {}, toolCallId)],
      ['Began', dateOf(begunAt)],
    ]),
    h('details', {}, h('summary', {}, 'Its arguments'), h('pre', {}, exactJson(args))),
    problem,
    taken,
  );
}

function diffLines(before: readonly string[], after: readonly string[]): Child[] {
  const marks = { same: ' ', old: '-', new: '+' } as const;
  const names = { same: '', old: 'taken out: ', new: 'put in: ' } as const;
  return lineDiff(before, after).map(({ kind, text }) =>
    h(
      'div',
      { class: `diff-line ${kind}` },
      h('span', { 'aria-hidden': 'true', class: 'mark' }, marks[kind]),
      kind !== 'same' && h('span', { class: 'unseen' }, names[kind]),
      h('span', { dir: 'auto' }, text),
    ),
  );
}

function isScope(value: string): value is NonNullable<Decision['always']> {
  return Object.hasOwn(ALWAYS, value);
}
