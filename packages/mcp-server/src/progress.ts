import { discard, oneLine } from '@ethosagent/policy';
import type { ToolProgressEvent } from '@ethosagent/types';
import type { ServerNotification } from '@modelcontextprotocol/sdk/types.js';

const MAX_MESSAGE_CHARS = 500;

/** The parts of a request that are needed to send progress. */
export interface ProgressRequest {
  _meta?: { progressToken?: string | number | undefined } | undefined;
  sendNotification: (notification: ServerNotification) => Promise<void>;
}

export function progressTo({
  _meta,
  sendNotification,
}: ProgressRequest): (event: Pick<ToolProgressEvent, 'message' | 'percent' | 'audience'>) => void {
  const progressToken = _meta?.progressToken;
  let last = 0;
  return ({ message, percent, audience }) => {
    if (progressToken === undefined || audience !== 'user') return;
    // The protocol requires each number to be larger than the last one.
    const isFurther = percent !== undefined && percent > last;
    last = isFurther ? percent : last + 0.001;
    discard(
      sendNotification({
        method: 'notifications/progress',
        params: {
          progressToken,
          progress: last,
          ...(isFurther && { total: 100 }),
          message: oneLine(String(message), MAX_MESSAGE_CHARS),
        },
      }),
    );
  };
}
