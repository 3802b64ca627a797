import { errorText } from '@ethosagent/policy';
import type { PendingApproval } from './session-api.js';
import type { SessionTools } from './session-tools.js';

/**
 * Copies of waiting calls. If a call could not run now, its copy says why in `cannotRun`.
 *
 * @param approvals the calls
 * @param tools of the session
 * @returns the copies, in the same order
 */
export async function withProblems(
  approvals: readonly PendingApproval[],
  tools: SessionTools,
): Promise<PendingApproval[]> {
  const problems = new Map<string | undefined, Promise<(name: string) => string | undefined>>();
  return Promise.all(
    structuredClone([...approvals]).map(async (approval) => {
      const { personalityId: id, toolName } = approval;
      const problemOf = problems.get(id) ?? problemsUnder(id, tools);
      problems.set(id, problemOf);
      const cannotRun = (await problemOf)(toolName);
      return cannotRun === undefined ? approval : { ...approval, cannotRun };
    }),
  );
}

async function problemsUnder(
  personality: string | undefined,
  tools: SessionTools,
): Promise<(name: string) => string | undefined> {
  try {
    const given = new Set((await tools.definitions(personality)).map(({ name }) => name));
    const whose = personality === undefined ? 'the personality' : `the personality ${personality}`;
    return (name) => {
      if (given.has(name)) return undefined;
      return tools.tool(name) === undefined
        ? `this process has no tool ${name}`
        : `${whose} does not have the tool ${name} now, or it is not available`;
    };
  } catch (error) {
    return () => errorText(error);
  }
}
