import type { SessionStore } from '@ethosagent/types';
import { taskJournalId } from './ledger-ids.js';

/** The sessions of the sub-agents of a session, as its task journal names them. */
export async function* subAgentsOf(
  store: Pick<SessionStore, 'messages'>,
  sessionId: string,
): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const page = await store.messages(taskJournalId(sessionId), { afterSequence: after });
    for (const { data } of page) {
      const id: unknown = Object(Object(data).task).id;
      if (typeof id === 'string') yield id;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.sequence;
  }
}
