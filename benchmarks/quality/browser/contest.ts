import type { Driver } from './driver.js';
import type { Task, World } from './tasks.js';

/** How one driver did one task. */
export interface Outcome {
  isDone: boolean;
  /** Why it failed. */
  failure?: string;
  calls: number;
  tokens: number;
  ms: number;
}

/** Has a driver do a task. */
export async function attempt(task: Task, driver: Driver, world: World): Promise<Outcome> {
  driver.begin();
  let failure: string | undefined;
  try {
    if (!(await task.run(driver, world))) failure = 'it was not what was wanted';
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const isDone = failure === undefined;
  return { isDone, ...(failure !== undefined && { failure }), ...driver.count() };
}
