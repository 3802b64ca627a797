import { errorText, expandToolset } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import { checkSchema } from './json-schema/check-schema.js';
import type { RuntimeProblem } from './runtime-problem.js';

const KEY = 'tools';
/** The problem of each schema, so that it is looked for only once. */
const known = new WeakMap<object, Promise<string | undefined>>();

/**
 * The JSON Schemas of tools against which no call could be checked. Schemas from `defineTool`, and
 * those that a tool checks itself, are not examined.
 */
export async function findSchemaProblems(
  personality: PersonalityConfig,
  tools: readonly AnyTool[],
): Promise<RuntimeProblem[]> {
  const { names } = expandToolset(personality.toolset, tools);
  const offered = tools.filter(({ name }) => names === undefined || names.includes(name));
  const found = await Promise.all(
    offered.flatMap(({ name, schema, outputSchema, input, validateSchema }) => [
      ...(input === undefined && validateSchema !== false
        ? [problemOf(name, { schema, what: 'schema', heldBack: true })]
        : []),
      ...(outputSchema === undefined
        ? []
        : [problemOf(name, { schema: outputSchema, what: 'outputSchema', heldBack: false })]),
    ]),
  );
  return found.filter((problem) => problem !== undefined);
}

async function problemOf(
  tool: string,
  { schema, what, heldBack }: { schema: object; what: string; heldBack: boolean },
): Promise<RuntimeProblem | undefined> {
  const looked = known.get(schema) ?? whyWrong(schema);
  known.set(schema, looked);
  const why = await looked;
  if (why === undefined) return undefined;
  const then = heldBack ? 'no call of it can run' : 'every result of it is a failure';
  const message = `${KEY}: the ${what} of ${tool} is wrong, so that ${then}: ${why}; correct it where the tool is defined`;
  return { file: '', key: KEY, tool, message, heldBack };
}

async function whyWrong(schema: object): Promise<string | undefined> {
  try {
    await checkSchema({ ...schema });
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
