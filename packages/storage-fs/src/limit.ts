/**
 * Lets so many tasks run at once and the others wait, in order.
 * @param max tasks that may run at once
 */
export function createLimit(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= max) await new Promise<void>((start) => waiting.push(start));
    else running += 1;
    try {
      return await task();
    } finally {
      // The place is handed on, so that nobody can take it in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/**
 * For everything that writes to the disk. Two descriptors each: any number of writes at once stays
 * far below a process's limit.
 */
export const limitWrites = createLimit(64);
