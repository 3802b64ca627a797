/** The version of the GenAI semantic conventions that are used here. They are not stable yet. */
export const CONVENTIONS_VERSION = '1.41.1';

/** Names of the GenAI semantic conventions. */
export const GEN_AI = {
  operation: 'gen_ai.operation.name',
  agentName: 'gen_ai.agent.name',
  agentId: 'gen_ai.agent.id',
  conversation: 'gen_ai.conversation.id',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
} as const;

/** Names that only this project uses. */
export const ETHOS = {
  outcome: 'ethos.outcome',
  cause: 'ethos.cause',
  gate: 'ethos.gate',
  dryRun: 'ethos.dry_run',
  approved: 'ethos.approval.approved',
  approvalReason: 'ethos.approval.reason',
  approvedBy: 'ethos.approval.by',
  edited: 'ethos.approval.edited',
  grant: 'ethos.approval.grant',
  waited: 'ethos.approval.waited',
  argsDigest: 'ethos.args.digest',
  bytes: 'ethos.result.bytes',
  redactions: 'ethos.redactions',
  cost: 'ethos.cost.usd',
  capability: 'ethos.access.capability',
  accessOperation: 'ethos.access.operation',
  target: 'ethos.access.target',
  decision: 'ethos.access.decision',
  reason: 'ethos.access.reason',
  declared: 'ethos.access.declared',
  policy: 'ethos.access.policy',
  turnEnd: 'ethos.turn.end',
  steps: 'ethos.turn.steps',
  calls: 'ethos.turn.calls',
} as const;
