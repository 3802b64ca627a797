import { counted } from '../format.js';
import type { HomeState, ReachMatrix, StreamMessage } from '../inspect-api.js';
import { approvalsView } from './approvals-view.js';
import { auditView } from './audit-view.js';
import { Client } from './client.js';
import { field, fill, h, select, setAttribute } from './dom.js';
import { liveView } from './live-view.js';
import { lockPage } from './lock-page.js';
import { reachView } from './reach-view.js';
import { sessionsView } from './sessions-view.js';
import type { View } from './view.js';

const NAMES = ['reach', 'live', 'sessions', 'approvals', 'audit', 'lock'] as const;
type Name = (typeof NAMES)[number];

const TITLES: Readonly<Record<Name, string>> = {
  reach: 'Reach',
  live: 'Live calls',
  sessions: 'Sessions',
  approvals: 'Approvals',
  audit: 'Audit log',
  lock: 'Reach lock',
};

const main = document.querySelector('main') ?? document.body;
const client = await Client.open().catch(() => undefined);
if (client === undefined) {
  fill(
    main,
    h('h1', {}, 'Not signed in'),
    h(
      'p',
      {},
      'Its address works once. Start "ethosagent inspect" again, and open the address that it prints.',
    ),
  );
} else {
  await start(client);
}

async function start(signedIn: Client): Promise<void> {
  const problem = h('p', { role: 'alert', class: 'warning' });
  const onError = (error: unknown) => {
    fill(problem, error instanceof Error ? error.message : String(error));
  };
  let state: HomeState;
  try {
    state = await signedIn.get<HomeState>('/api/state');
  } catch (error) {
    onError(error);
    fill(main, h('h1', {}, 'Not signed in'), problem);
    return;
  }
  const badge = h('span', { class: 'badge' });
  const links = new Map(
    NAMES.map((name) => [
      name,
      h('a', { href: `#${name}` }, TITLES[name], name === 'approvals' && badge),
    ]),
  );
  const live = h('p', { role: 'status', class: 'muted' });
  const place = h('div', { class: 'place' });
  const heading = h('h1', { tabindex: -1 });
  fill(
    document.querySelector('header') ?? main,
    h('p', { class: 'home' }, h('strong', {}, 'ethosagent'), ' ', h('bdi', {}, state.home)),
    h(
      'nav',
      { 'aria-label': 'Views' },
      h('ul', {}, ...[...links.values()].map((link) => h('li', {}, link))),
    ),
    live,
  );
  fill(main, heading, problem, place);
  const views: Readonly<Record<Name, View>> = {
    reach: reachOf(signedIn, state, onError),
    live: liveView(signedIn, onError),
    sessions: sessionsView(signedIn, onError),
    approvals: approvalsView({
      client: signedIn,
      onError,
      onCount: (waiting) =>
        fill(
          badge,
          waiting > 0 && ` ${waiting}`,
          waiting > 0 && h('span', { class: 'unseen' }, ' wait'),
        ),
    }),
    audit: auditView(signedIn, onError),
    lock: lockPage(signedIn, onError),
  };
  let current: Name | undefined;
  const show = () => {
    const name = NAMES.find((each) => location.hash === `#${each}`) ?? 'reach';
    if (name === current) return;
    const isFirst = current === undefined;
    current = name;
    fill(problem);
    fill(heading, TITLES[name]);
    document.title = `${TITLES[name]} – ethosagent`;
    for (const [each, link] of links) setAttribute(link, 'aria-current', each === name && 'page');
    fill(place, views[name].element);
    views[name].show();
    if (!isFirst) heading.focus();
  };
  addEventListener('hashchange', show);
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
    if (event.target instanceof HTMLTextAreaElement || current === undefined) return;
    const { search } = views[current];
    if (search === undefined) return;
    event.preventDefault();
    search.focus();
  });
  show();
  if (current !== 'approvals') views.approvals.show();
  const onMessage = (message: StreamMessage) => {
    for (const view of Object.values(views)) view.onMessage?.(message);
  };
  await signedIn.follow(onMessage, (isConnected) => {
    if (isConnected) for (const view of Object.values(views)) view.onConnected?.();
    const { held, older } = state.events;
    const events = `${counted(held, 'event')} at the start${older > 0 ? `, ${older} older ones are in the logs` : ''}`;
    fill(
      live,
      isConnected ? `Live. ${events}.` : 'The inspector has ended, or can not be reached.',
    );
  });
}

/** The matrix of the chosen personality. */
function reachOf(
  signedIn: Client,
  { personality, personalities }: HomeState,
  onError: (error: unknown) => void,
): View {
  const choice = select(
    personalities.map(({ id, description }) => [
      id,
      description === undefined ? id : `${id}: ${description}`,
    ]),
  );
  choice.value = personality;
  const place = h('div', { class: 'place' });
  const load = async () => {
    try {
      const asked = choice.value;
      const matrix = await signedIn.get<ReachMatrix>('/api/reach', { personality: asked });
      if (choice.value === asked) fill(place, reachView(matrix));
    } catch (error) {
      fill(place);
      onError(error);
    }
  };
  choice.addEventListener('change', load);
  return {
    element: h(
      'div',
      { class: 'view' },
      h('div', { class: 'filters' }, field('Personality', choice)),
      place,
    ),
    show: () => void load(),
  };
}
