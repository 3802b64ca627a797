import type { PolicyAtOnce } from '../personality-policy.js';
import { ScopedCallsImpl } from '../scoped/scoped-calls.js';
import type { PolicyCall } from './capability-call.js';
import { defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';
import { isStringList, listProblem, problem } from './shapes.js';

const FROM_SETTINGS = 'from-settings';

/** Calls of other tools, through `calls`. */
export const calls = defineCapability('calls', {
  shapeProblem: (declared) => {
    const { tools }: { tools?: unknown } = Object(declared);
    return tools === FROM_SETTINGS ? undefined : listProblem('calls.tools', tools);
  },
  malformed: (_, { storage }) =>
    // The caller would hold the namespace while it waits for a call that needs the same namespace.
    storage !== undefined && storage.concurrency !== 'parallel'
      ? [problem('calls', "a tool with a store of its own says concurrency: 'parallel'")]
      : [],
  compile: ({ tools: declared }, { name }) => {
    const toolsOf = ({ policy, narrowing }: PolicyCall): readonly string[] => {
      // The host did not narrow what the called tools reach.
      if (narrowing !== undefined) return [];
      const named = declared === FROM_SETTINGS ? namedBySettings(policy, name) : declared;
      return [...new Set(named)].filter((tool) => tool !== name);
    };
    return {
      bind: (binding) => {
        const { scope, registry, accessors } = binding;
        const call = scope && registry?.calls?.();
        // The accessor is present even with no tools: a tool that may call others can do its own
        // work without them.
        const tools = call === undefined ? [] : toolsOf(binding);
        accessors.calls = new ScopedCallsImpl({ call, tools, scope });
      },
      why: (_, { tool }) => ({ declared: declaredPart('calls.tools', declared), policy: tool() }),
      describe: (call) => ({ calls: { tools: toolsOf(call) } }),
    };
  },
});

/** The list in the personality's settings of the tool; empty if there is no valid list. */
function namedBySettings(policy: PolicyAtOnce, name: string): readonly string[] {
  try {
    const { tools }: { tools?: unknown } = Object(policy.settings(name));
    return isStringList(tools) ? tools : [];
  } catch {
    return [];
  }
}
