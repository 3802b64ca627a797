// One listener for all sinks: Node warns where a process has more than ten.
const actions = new Set<() => void>();

function runActions(): void {
  for (const action of actions) {
    try {
      action();
    } catch {
      // Nobody is left to be told, and the other sinks have their events too.
    }
  }
}

/**
 * Runs an action when the process ends by itself: at the end of its work, by `process.exit`, or by
 * an uncaught error. The action does not run when a signal ends the process.
 *
 * @returns a function that forgets the action
 */
export function whenProcessEnds(action: () => void): () => void {
  if (actions.size === 0) process.on('exit', runActions);
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size === 0) process.off('exit', runActions);
  };
}
