let problem: string | undefined;

/** Notes what became of the supervisor. */
export function reportSupervisor(what: string): void {
  problem = what;
}

/**
 * What an operator should know of the process that ends what this host started: that it could not
 * be started, or that somebody ended it. `undefined` as long as all is well.
 */
export function supervisorProblem(): string | undefined {
  if (problem === undefined) return undefined;
  return `the process that ends what this host starts, however the host ends, ${problem}; it is started again with the next process of a tool, and until then what runs may outlive a host that is killed`;
}
