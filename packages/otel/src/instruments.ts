import type { AuditCall, AuditEvent } from '@ethosagent/types';
import type { Meter } from '@opentelemetry/api';
import { ETHOS, GEN_AI } from './conventions.js';
import { knownToolName } from './known-tool-name.js';

/** The tokens and the cost of one step of a model. */
export interface StepUsage {
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** Facts about a turn that its events do not contain. */
export interface TurnFacts {
  /** The name of the agent, e.g. the id of its personality. */
  agent?: string;
  /** The name of the model, for the names of the spans. */
  model?: string;
  /**
   * The provider of the model, as the conventions name it: `anthropic`, `openai`, `aws.bedrock`, …
   */
  provider?: string;
}

export interface Instruments {
  call(call: AuditCall): void;
  access(event: AuditEvent): void;
  usage(usage: StepUsage, facts: TurnFacts): void;
}

/** Creates the metrics of a runtime. */
export function createInstruments(meter: Meter): Instruments {
  const calls = meter.createCounter('ethos.calls', {
    description: 'Calls of tools that have their answer',
    unit: '{call}',
  });
  const durations = meter.createHistogram('ethos.call.duration', {
    description: 'From the begin of a tool to its end',
    unit: 's',
  });
  const accesses = meter.createCounter('ethos.accesses', {
    description: 'Accesses of tools to the outside, allowed and denied',
    unit: '{access}',
  });
  const approvals = meter.createCounter('ethos.approvals', {
    description: 'Calls that were asked about and decided',
    unit: '{call}',
  });
  const waits = meter.createHistogram('ethos.approval.wait', {
    description: 'From the question for an approval until the call went on',
    unit: 's',
  });
  const toolCost = meter.createCounter('ethos.tool.cost', {
    description: 'What tools say they cost',
    unit: 'USD',
  });
  const cost = meter.createCounter('ethos.cost', {
    description: 'What the steps of turns cost, their tools included',
    unit: 'USD',
  });
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Tokens of one step of a model',
    unit: '{token}',
  });
  return {
    call: (call) => {
      const tool = { [GEN_AI.tool]: knownToolName(call) };
      calls.add(1, { ...tool, [ETHOS.outcome]: call.cause ?? call.outcome });
      if (call.costUsd !== undefined) toolCost.add(call.costUsd, tool);
      // A call that did not run has no duration.
      if (call.gate === undefined) durations.record(call.durationMs / 1_000, tool);
      if (call.approval !== undefined) {
        const of = { ...tool, [ETHOS.approved]: call.approval.approved };
        approvals.add(1, of);
        const { waitedMs } = call.approval;
        if (waitedMs !== undefined) waits.record(waitedMs / 1_000, of);
      }
    },
    access: ({ toolName, capability, decision }) => {
      accesses.add(1, {
        [GEN_AI.tool]: toolName,
        [ETHOS.capability]: capability,
        [ETHOS.decision]: decision,
      });
    },
    usage: ({ inputTokens, outputTokens, costUsd }, { agent, model, provider }) => {
      const of = {
        [GEN_AI.operation]: 'chat',
        ...(agent && { [GEN_AI.agentName]: agent }),
        ...(model && { [GEN_AI.model]: model }),
        ...(provider && { [GEN_AI.provider]: provider }),
      };
      tokens.record(inputTokens, { ...of, [GEN_AI.tokenType]: 'input' });
      tokens.record(outputTokens, { ...of, [GEN_AI.tokenType]: 'output' });
      if (costUsd > 0) cost.add(costUsd, of);
    },
  };
}
