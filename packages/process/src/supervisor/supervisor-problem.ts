let problem: string | undefined;
let unmarked: string | undefined;

/** Keeps the reason why the supervisor does not run. */
export function reportSupervisor(what: string): void {
  problem = what;
}

/** Keeps the reason why processes can't be marked by a limit. */
export function reportUnmarked(why: string): void {
  unmarked = why;
}

/**
 * Reports a problem of the supervisor, the process that ends this host's processes when the host
 * dies: it could not be started, somebody ended it, or this machine can't mark processes.
 *
 * @returns a text for an operator; `undefined` if there is no problem
 */
export function supervisorProblem(): string | undefined {
  const told = [ofSupervisor(), ofMarks()].filter((each) => each !== undefined);
  return told.length === 0 ? undefined : told.join('. ');
}

function ofSupervisor(): string | undefined {
  if (problem === undefined) return undefined;
  return `the process that ends what this host starts, however the host ends, ${problem}; it is started again with the next process of a tool, and until then what runs may outlive a host that is killed`;
}

function ofMarks(): string | undefined {
  if (unmarked === undefined) return undefined;
  return `the host can't mark processes by a limit (${unmarked}); until then, a daemon that a tool starts without a sandbox and that clears its environment may outlive its call and the host`;
}
