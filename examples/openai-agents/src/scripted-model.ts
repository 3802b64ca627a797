import type { ScriptedStep } from '@ethosagent/plugin-sdk/testing';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';

/** The scripted model of the SDK, which says what a script says. */
export function scriptedModel(script: readonly ScriptedStep[]): ScriptedModel {
  return new ScriptedModel(
    script.map((step) =>
      typeof step === 'string'
        ? [assistantMessage(step)]
        : step.map(([name, args, callId = name]) => functionCall(name, Object(args), { callId })),
    ),
  );
}
