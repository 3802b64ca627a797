import type { CapabilityBackends } from '@ethosagent/core';
import { expandToolset } from '@ethosagent/policy';
import { bubblewrapSandbox, missingSandbox } from '@ethosagent/process';
import type {
  AnyTool,
  PersonalityConfig,
  ProcessPolicy,
  ToolCapabilities,
} from '@ethosagent/types';
import { placeIn } from './personality-places.js';
import type { RuntimeProblem } from './runtime-problem.js';

const KEY = 'safety.process.sandbox';

/** The personality and the machine that are checked. */
export interface SandboxProblemSources {
  file: string;
  tools: readonly AnyTool[];
  backends: Pick<CapabilityBackends, 'processEnv' | 'sandbox'>;
}

/**
 * Finds problems of the sandbox before the first call: this machine lacks a required sandbox, or
 * commands run without one.
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

/** Reports tools that can't start anything, because the required sandbox is missing. */
async function findMissingSandbox(
  personality: PersonalityConfig,
  { file, tools, backends: { processEnv, sandbox = bubblewrapSandbox } }: SandboxProblemSources,
): Promise<RuntimeProblem[]> {
  const policy = personality.safety?.process;
  const isRequired = isSandboxRequired(policy);
  const bound = isRequired ? tools : tools.filter(({ capabilities }) => requiresOne(capabilities));
  if (bound.length === 0) return [];
  const missing = await missingSandbox({ ...policy, sandbox: 'required' }, processEnv, sandbox);
  if (missing === undefined) return [];
  const why = `it has to run in a sandbox, and this machine has none that works; ${sandbox.remedy}`;
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
 * Reports a tool that runs shell text, such as `terminal`, without a sandbox. Then only the rules
 * for the text of a command limit what it does. If there are several such tools, the first is
 * named.
 */
async function findUnheldShell(
  personality: PersonalityConfig,
  { file, tools, backends }: SandboxProblemSources,
): Promise<RuntimeProblem[]> {
  const tool = tools.find(runsShell);
  const why = tool && (await whyUnheld(personality, backends));
  if (tool === undefined || why === undefined) return [];
  const place = placeIn(file, personality, KEY.split('.'));
  const message = `${place}: ${KEY}: ${tool.name} runs commands outside of a sandbox, with all rights of the user who runs this process: fs_reach and safety.network do not hold for them, and a command that hides on purpose outlives this process; ${why}`;
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

/** If a sandbox is required, every process has one or does not run. */
async function whyUnheld(
  { safety }: PersonalityConfig,
  { processEnv, sandbox = bubblewrapSandbox }: SandboxProblemSources['backends'],
): Promise<string | undefined> {
  const policy = safety?.process;
  if (policy?.sandbox === undefined || policy.sandbox === false) {
    return 'set it to required';
  }
  if (policy.sandbox !== 'preferred') return undefined;
  const missing = await missingSandbox({ ...policy, sandbox: 'required' }, processEnv, sandbox);
  return missing && `this machine has no sandbox that works; ${sandbox.remedy}`;
}
