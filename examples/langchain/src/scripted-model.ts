import type { ScriptedStep } from '@ethosagent/plugin-sdk/testing';
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';

/** The fake model of LangChain, which says what a script says. */
export function scriptedModel(script: readonly ScriptedStep[]) {
  const model = fakeModel();
  for (const step of script) {
    if (typeof step === 'string') model.respond(new AIMessage(step));
    else
      model.respondWithTools(
        step.map(([name, args, id = name]) => ({ name, args: Object(args), id })),
      );
  }
  return model;
}
