import type { CapabilityBackends } from '@ethosagent/core';
import { expandToolset } from '@ethosagent/policy';
import { missingSandbox } from '@ethosagent/process';
import type {
  AnyTool,
  PersonalityConfig,
  ProcessPolicy,
  ToolCapabilities,
} from '@ethosagent/types';
import { placeIn } from './personality-places.js';
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
 * What of the sandbox an operator should know before the first call: that one is required which
 * this machine lacks, or that commands run without one.
 */
export async function findSandboxProblems(
  personality: PersonalityConfig,
  sources: SandboxProblemSources,
): Promise<RuntimeProblem[]> {
  const { names } = expandToolset(personality.toolset, sources.tools);
  const offered = sources.tools.filter(
    ({ name, capabilities }) =>
      capabilities.process !== undefined && (names === undefined || names.includes(name)),
  );
  return [
    ...(await findMissingSandbox(personality, { ...sources, tools: offered })),
    ...(await findUnheldShell(personality, { ...sources, tools: offered })),
  ];
}

/** Tells of the tools that can start nothing, since there is no sandbox to start it in. */
async function findMissingSandbox(
  personality: PersonalityConfig,
  { file, tools, backends: { processEnv, sandbox } }: SandboxProblemSources,
): Promise<RuntimeProblem[]> {
  const policy = personality.safety?.process;
  const isRequired = isSandboxRequired(policy);
  const bound = isRequired ? tools : tools.filter(({ capabilities }) => requiresOne(capabilities));
  if (bound.length === 0) return [];
  const missing = await missingSandbox({ ...policy, sandbox: 'required' }, processEnv, sandbox);
  if (missing === undefined) return [];
  const why = missing.replace(/^SANDBOX_UNAVAILABLE: /, '');
  const place = isRequired ? placeIn(file, personality, KEY.split('.')) : file;
  return bound.map(({ name }) => ({
    file,
    key: KEY,
    tool: name,
    message: `${place}: ${KEY}: ${name} can not run: ${why}`,
    heldBack: true,
  }));
}

/**
 * Tells that a tool which runs shell text, such as `terminal`, does so without a sandbox: what a
 * command may then do is held by a reader of its text alone. Of several such tools, the first.
 */
async function findUnheldShell(
  personality: PersonalityConfig,
  { file, tools, backends }: SandboxProblemSources,
): Promise<RuntimeProblem[]> {
  const tool = tools.find(runsShell);
  const why = tool && (await whyUnheld(personality, backends));
  if (tool === undefined || why === undefined) return [];
  const place = placeIn(file, personality, KEY.split('.'));
  const message = `${place}: ${KEY}: ${tool.name} runs commands outside of a sandbox, with all rights of the user who runs this process, whatever fs_reach and the network policy say, and a daemon that hides on purpose (it clears its environment and lowers its limit of file locks) outlives this process: ${why}`;
  return [{ file, key: KEY, tool: tool.name, message, heldBack: false }];
}

function runsShell({ capabilities }: AnyTool): boolean {
  const { allowedBinaries = [] } = capabilities.process ?? {};
  return !requiresOne(capabilities) && allowedBinaries.some((binary) => /^(ba)?sh$/.test(binary));
}

function requiresOne({ process }: ToolCapabilities): boolean {
  return process?.sandbox === 'required';
}

function isSandboxRequired(policy: ProcessPolicy | undefined): boolean {
  const { sandbox } = policy ?? {};
  return sandbox !== undefined && sandbox !== false && sandbox !== 'preferred';
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
