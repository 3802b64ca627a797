import { join } from 'node:path';
import {
  declaredRef,
  expandToolset,
  isSecretRef,
  nearestName,
  secretRefMatches,
} from '@ethosagent/policy';
import { createHomeSecrets } from '@ethosagent/storage-fs';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import { hostEnvironment } from './host-environment.js';
import type { RuntimeProblem } from './runtime-problem.js';

const KEY = 'stores.secrets';

/**
 * The secrets of a home that can't be used, such as one that other users may read, and those that a
 * tool declares and that are there under a name near to it. A declared secret that is just not there
 * is none: a tool may do without.
 */
export async function findSecretProblems(
  home: string,
  personality: PersonalityConfig,
  tools: readonly AnyTool[],
): Promise<RuntimeProblem[]> {
  const dir = join(home, 'secrets');
  const secrets = createHomeSecrets({ home, env: hostEnvironment() });
  const problem = (ref: string, { tool, why }: { tool: string; why: string }): RuntimeProblem => {
    const file = ref === '' ? dir : join(dir, ref);
    return { file, key: KEY, tool, message: `${file}: ${why}`, heldBack: false };
  };
  const { names } = expandToolset(personality.toolset, tools);
  const offered = tools.filter(({ name }) => names === undefined || names.includes(name));
  const declarers = new Map(
    offered.flatMap(({ name, capabilities: { secrets: declared = [] } }) =>
      declared.map((each) => [declaredRef(each), name] as const),
    ),
  );
  const declarerOf = (ref: string) => {
    const exact = declarers.get(ref);
    if (exact !== undefined) return exact;
    return [...declarers].find(([declared]) => secretRefMatches(declared, ref))?.[1];
  };
  let listed: string[];
  try {
    listed = await secrets.list();
  } catch (error) {
    return [problem('', { tool: '', why: whyOf(error, 'the list of refs') })];
  }
  const spare = listed.filter((ref) => declarerOf(ref) === undefined);
  // A declared prefix names no one secret; those below it are listed.
  const refs = [...new Set([...listed, ...[...declarers.keys()].filter(isSecretRef)])];
  const problems = await Promise.all(
    refs.map(async (ref) => {
      const tool = declarerOf(ref) ?? '';
      try {
        if (listed.includes(ref) || (await secrets.has(ref))) await secrets.get(ref);
        else {
          const near = nearestName(ref, spare);
          if (near === undefined) return [];
          const why = `${tool} declares this secret, and there is none; there is ${near}, which no tool declares; rename it if it is meant`;
          return [problem(ref, { tool, why })];
        }
        return [];
      } catch (error) {
        return [problem(ref, { tool, why: `the secret can not be used: ${whyOf(error, ref)}` })];
      }
    }),
  );
  return problems.flat();
}

/** What the store says, which holds no value. */
function whyOf(error: unknown, ref: string): string {
  const said = error instanceof Error ? error.message : 'it can not be read';
  return said.replace(/^SECRET_NOT_FOUND: /, '').replace(`${ref}: `, '');
}
