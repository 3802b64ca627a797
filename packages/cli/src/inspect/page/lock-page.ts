import type { LockView } from '../inspect-api.js';
import type { Client } from './client.js';
import { button, type Child, fill, h } from './dom.js';
import type { View } from './view.js';

const KINDS = [
  ['widened', 'Widened: something may be allowed that was not'],
  ['narrowed', 'Narrowed: something is not allowed any more'],
  ['text', 'Text only'],
] as const;

/** The differences from the reach lock, sorted by their effect. */
export function lockPage(client: Client, onError: (error: unknown) => void): View {
  const status = h('p', { role: 'status' });
  const list = h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Changes' });
  const load = async () => {
    try {
      const found = await client.get<LockView>('/api/lock');
      fill(status, ...summary(found));
      fill(list, ...KINDS.flatMap(([kind, title]) => changesOf(found, kind, title)));
      list.hidden = found.changes.length === 0;
    } catch (error) {
      fill(status);
      fill(list);
      onError(error);
    }
  };
  return {
    element: h(
      'div',
      { class: 'view' },
      h('div', { class: 'filters' }, button('Compare again', load), status),
      list,
    ),
    show: () => void load(),
  };
}

function summary({ file, isThere, changes, leavesOut }: LockView): Child[] {
  if (!isThere) return ['There is no lock. Write it with "ethosagent lock", and commit it.'];
  return [
    changes.length === 0 ? 'The reach is as ' : 'Different from ',
    h('bdi', {}, file),
    changes.length === 0 ? ' says.' : ':',
    leavesOut && ' MCP servers are left out; "ethosagent lock --check" compares them.',
  ];
}

function changesOf({ changes }: LockView, kind: (typeof KINDS)[number][0], title: string): Child[] {
  const found = changes.filter((each) => each.kind === kind);
  if (found.length === 0) return [];
  return [
    h('h2', { class: kind === 'widened' ? 'warning' : '' }, `${title} (${found.length})`),
    h(
      'ul',
      {},
      ...found.map(({ personality, tool, message, file, line }) =>
        h(
          'li',
          {},
          h('strong', {}, h('bdi', {}, [personality, tool].filter(Boolean).join(', '))),
          ' ',
          h('bdi', {}, message),
          file !== undefined &&
            h('code', { class: 'line muted' }, line === undefined ? file : `${file}:${line}`),
        ),
      ),
    ),
  ];
}
