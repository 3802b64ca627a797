import type { FailureAnswers } from '@ethosagent/plugin-sdk';

/** What a model can do about each refusal. */
export const DELEGATION_FAILURES: FailureAnswers = {
  DELEGATION_NOT_FOUND: 'task_status without an id lists the tasks there are.',
  SESSION_OWNER_MISMATCH: 'Tell the user that the tasks of this session belong to somebody else.',
  STORE_UNAVAILABLE: 'Do it yourself, or give it with task, which keeps nothing.',
  STORE_CORRUPT: 'Tell the user that the session store is damaged.',
  STORE_NEWER: 'Tell the user that the session store is of a newer version.',
};
