import { EthosError, type SessionInfo, type SessionMessage } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';

type Sessions = ToolRuntime['sessions'];

/** The stored facts about a session. @throws `CONFIG_INVALID` if it does not exist */
export async function sessionInfo(sessions: Sessions, id: string): Promise<SessionInfo> {
  const info = await sessions.get(id);
  if (info !== null) return info;
  throw new EthosError(
    'CONFIG_INVALID',
    `there is no session ${id}; "ethosagent sessions list" shows those that there are`,
  );
}

/** All messages of a session in order, page by page. */
export async function* sessionMessages(
  sessions: Sessions,
  id: string,
): AsyncGenerator<SessionMessage> {
  for (let last = 0; ; ) {
    const page = await sessions.messages(id, { afterSequence: last });
    if (page.length === 0) return;
    for (const message of page) {
      last = message.sequence;
      yield message;
    }
  }
}
