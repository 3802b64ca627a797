const turns = new Map<string, Promise<unknown>>();

/** Runs a task when those before it under the same key are over. */
export async function inTurn<T>(key: string, task: () => Promise<T>): Promise<T> {
  const before = turns.get(key) ?? Promise.resolve();
  const mine = before.then(task, task);
  turns.set(key, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(key) === mine) turns.delete(key);
  }
}
