import { callEventConformance, toolExitConformance } from '@ethosagent/conformance';
import { createTestFolder, createToolsetHome, inCheck } from '@ethosagent/test-support';
import { createToolRuntime } from '@ethosagent/wiring';
import { HumanMessage } from '@langchain/core/messages';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, createMiddleware } from 'langchain';
import { AGENTS, type Step, scriptedModel } from './fixtures/agents.js';
import { answerInterrupts, langchainRefusals, toLangchainTools } from './index.js';

// All of them call the same tools, which ask the session. `contract.test.ts` has tools that were
// kept in an agent of another kind.
const agents = inCheck(Object.entries(AGENTS), ([kind]) => kind === 'createAgent');
for (const [kind, makeAgent] of agents) {
  toolExitConformance(`toLangchainTools in ${kind}`, async (tools) => {
    const folder = createTestFolder('langchain-exit');
    const setToolset = async (names: readonly string[]) => {
      folder.put(
        '../home/personalities/clerk/config.yaml',
        `name: Clerk\ntoolset: [${names.join(', ')}]\n`,
        0o600,
      );
    };
    await setToolset(['allowed_tool']);
    const home = `${folder.base}/home`;
    const runtime = await createToolRuntime({ home, personality: 'clerk', tools });
    const session = runtime.session('s');
    const checkpointer = new MemorySaver();
    let threads = 0;
    return {
      listed: async () => (await toLangchainTools(session)).map(({ name }) => name),
      /** The model makes all calls in one step, and every question is approved. */
      async call(calls) {
        const step: Step = calls.map(({ name, args, toolCallId }) => [
          name,
          Object(args),
          toolCallId,
        ]);
        const agent = makeAgent({
          model: scriptedModel(step, 'Done.'),
          tools: await toLangchainTools(session),
          checkpointer,
        });
        const config = { configurable: { thread_id: `${++threads}` } };
        let state = await agent.invoke({ messages: [new HumanMessage('Go.')] }, config);
        for (;;) {
          const resume = await answerInterrupts(state, () => ({ approved: true, always: 'tool' }));
          if (Object.keys(resume).length === 0) return state;
          state = await agent.invoke(new Command({ resume }), config);
        }
      },
      async keep(name) {
        const kept = (await toLangchainTools(session)).find((each) => each.name === name);
        return async ({ toolCallId, args }) =>
          kept?.invoke({ type: 'tool_call', id: toolCallId, name, args: Object(args) });
      },
      setToolset,
      async close() {
        await runtime.close();
        folder.remove();
      },
    };
  });
}

callEventConformance('createAgent', async ({ tools, toolset, audit }) => {
  const { home, remove } = createToolsetHome(...toolset);
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools, audit });
  const session = runtime.session('s');
  const checkpointer = new MemorySaver();
  const wrapToolCall = langchainRefusals(session);
  return {
    async call({ name, args, toolCallId }) {
      const agent = createAgent({
        model: scriptedModel([[name, Object(args), toolCallId]], 'Done.'),
        tools: await toLangchainTools(session),
        checkpointer,
        middleware: [createMiddleware({ name: 'refusals', wrapToolCall })],
      });
      const config = { configurable: { thread_id: toolCallId } };
      const state = await agent.invoke({ messages: [new HumanMessage('Go.')] }, config);
      const resume = await answerInterrupts(state, () => ({ approved: true }));
      return Object.keys(resume).length > 0 && agent.invoke(new Command({ resume }), config);
    },
    async close() {
      await runtime.close();
      remove();
    },
  };
});
