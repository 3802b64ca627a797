import { join } from 'node:path';
import {
  declaredRef,
  expandToolset,
  isSecretRef,
  nearestName,
  secretRefMatches,
  secretSource,
} from '@ethosagent/policy';
import { createHomeSecrets } from '@ethosagent/storage-fs';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import { hostEnvironment } from './host-environment.js';
import { placeIn } from './personality-places.js';
import type { RuntimeProblem } from './runtime-problem.js';

const KEY = 'stores.secrets';
const SOURCES_KEY = 'safety.secrets';

/**
 * Finds three kinds of secrets: those of a home that can't be used, e.g. because other users may
 * read them; those that a tool declares and that exist under a similar name; those that the
 * personality names and that do not exist. A declared secret that is only missing is not a problem:
 * a tool may work without it.
 *
 * @param file the file of the personality
 */
export async function findSecretProblems(
  personality: PersonalityConfig,
  { home, file: config, tools }: { home: string; file: string; tools: readonly AnyTool[] },
): Promise<RuntimeProblem[]> {
  const sources = personality.safety?.secrets ?? {};
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
  const named = Object.keys(sources).flatMap((ref) => {
    const tool = declarerOf(ref);
    const source = secretSource(sources, ref);
    return tool === undefined || source === undefined ? [] : [{ ref, source, tool }];
  });
  const isUsed = (ref: string) =>
    declarerOf(ref) !== undefined || named.some(({ source }) => source === ref);
  const spare = listed.filter((ref) => !isUsed(ref));
  // A declared prefix does not name a single secret. The secrets below it are in the list.
  const single = [...declarers.keys()].filter(isSecretRef);
  const own = single.filter((ref) => !Object.hasOwn(sources, ref));
  const refs = [...new Set([...listed, ...own])];
  const problems = await Promise.all(
    refs.map(async (ref) => {
      const tool = declarerOf(ref) ?? '';
      try {
        if (listed.includes(ref) || (await secrets.has(ref))) await secrets.get(ref);
        else {
          const near = nearestName(ref, spare);
          if (near === undefined) return [];
          const why = `${tool} declares this secret, which does not exist; there is ${near}, which no tool declares: rename it if it is the one meant`;
          return [problem(ref, { tool, why })];
        }
        return [];
      } catch (error) {
        return [problem(ref, { tool, why: `the secret can not be used: ${whyOf(error, ref)}` })];
      }
    }),
  );
  const missing = await Promise.all(
    named.map(async ({ ref, source, tool }) => {
      if (source === ref || listed.includes(source) || (await secrets.has(source))) return [];
      const near = nearestName(source, spare);
      const hint =
        near === undefined
          ? `store it with "ethosagent secrets set ${source}"`
          : `did you mean "${near}"?`;
      const place = placeIn(config, personality, [...SOURCES_KEY.split('.'), ref]);
      const message = `${place}: ${SOURCES_KEY}.${ref}: there is no secret ${source}, so ${tool} fails when it needs that secret; ${hint}`;
      return [{ file: config, key: SOURCES_KEY, tool, message, heldBack: false }];
    }),
  );
  return [...problems, ...missing].flat();
}

/** The message of the store, which contains no value. */
function whyOf(error: unknown, ref: string): string {
  const said = error instanceof Error ? error.message : 'it can not be read';
  return said.replace(/^SECRET_NOT_FOUND: /, '').replace(`${ref}: `, '');
}
