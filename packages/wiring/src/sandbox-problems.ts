import type { CapabilityBackends } from '@ethosagent/core';
import { expandToolset } from '@ethosagent/policy';
import { missingSandbox } from '@ethosagent/process';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import type { RuntimeProblem } from './runtime-problem.js';

const KEY = 'safety.process.sandbox';

/** What a personality's processes are compared with. */
export interface SandboxProblemSources {
  /** The path of the personality's file. */
  file: string;
  tools: readonly AnyTool[];
  backends: Pick<CapabilityBackends, 'processEnv' | 'sandbox'>;
}

/**
 * Tells that a tool which runs shell text, such as `terminal`, does so without a sandbox: what a
 * command may then do is held by a reader of its text alone. Of several such tools, the first.
 */
export async function findSandboxProblems(
  personality: PersonalityConfig,
  { file, tools, backends }: SandboxProblemSources,
): Promise<RuntimeProblem[]> {
  const { names } = expandToolset(personality.toolset, tools);
  const tool = tools.find(
    (candidate) => names?.includes(candidate.name) !== false && runsShell(candidate),
  );
  const why = tool && (await whyUnheld(personality, backends));
  if (tool === undefined || why === undefined) return [];
  const message = `${file}: ${KEY}: ${tool.name} runs commands outside of a sandbox, with all rights of the user who runs this process, whatever fs_reach and the network policy say: ${why}`;
  return [{ file, key: KEY, tool: tool.name, message, heldBack: false }];
}

function runsShell({ capabilities }: AnyTool): boolean {
  const { allowedBinaries = [], sandbox } = capabilities.process ?? {};
  return sandbox !== 'required' && allowedBinaries.some((binary) => /^(ba)?sh$/.test(binary));
}

/** Where a sandbox is required, a process has one or does not run. */
async function whyUnheld(
  { safety }: PersonalityConfig,
  { processEnv, sandbox }: SandboxProblemSources['backends'],
): Promise<string | undefined> {
  const policy = safety?.process;
  if (policy?.sandbox === undefined || policy.sandbox === false) {
    return 'this personality asks for none; set it to required';
  }
  if (policy.sandbox !== 'preferred') return undefined;
  const missing = await missingSandbox({ ...policy, sandbox: 'required' }, processEnv, sandbox);
  return missing && `this machine has none (${missing})`;
}
