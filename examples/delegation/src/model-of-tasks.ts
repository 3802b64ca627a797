import {
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from '@ethosagent/plugin-sdk/testing';

/** Stands in for a model: it answers each agent by the task that the agent was given. */
export function modelOfTasks(scripts: Record<string, readonly ScriptedStep[]>): {
  model: ScriptedModel;
  offered(task: string): string[];
} {
  const model = scriptedModel(({ prompt }) => {
    const at = prompt.slice(lastOf(prompt)).filter(({ role }) => role === 'assistant').length;
    return scripts[taskOf(prompt)]?.[at] ?? 'Done.';
  });
  return {
    model,
    /** The tools that the agent with a task was told of. */
    offered(task) {
      const { tools = [] } = model.requests.findLast(({ prompt }) => taskOf(prompt) === task) ?? {};
      return tools.map(({ name }) => name).sort();
    },
  };
}

type Prompt = ScriptedRequest['prompt'];

function lastOf(prompt: Prompt): number {
  return prompt.findLastIndex(({ role }) => role === 'user');
}

/** What the user, or the agent above, said last. */
function taskOf(prompt: Prompt): string {
  const content = prompt[lastOf(prompt)]?.content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
}
