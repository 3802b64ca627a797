import type { CommandContext } from './command-context.js';

/** What a command of the line is given when it runs. */
export interface CommandInput {
  context: CommandContext;
  /** The arguments, in order, without options. */
  args: readonly string[];
  /** The options by their long names in camel case. */
  options: Readonly<Record<string, unknown>>;
  /** All commands, for what tells of them. */
  commands: readonly CommandSpec[];
}

/** What a file of a command exports. */
export interface CommandModule {
  /** @returns the exit code */
  run(input: CommandInput): Promise<number>;
}

/** A command, as help and completion tell it. Its code is loaded when it runs. */
export interface CommandSpec {
  name: string;
  summary: string;
  /** As `[tool]` or `<name>`, and what it is. */
  args?: readonly (readonly [name: string, about: string])[];
  /** As `--json` or `--session <id>`, and what it does. */
  options?: readonly (readonly [flags: string, about: string])[];
  /** One of them is named after the command. */
  children?: readonly CommandSpec[];
  load?: () => Promise<CommandModule>;
}

/** An option that takes a text. */
export function textOption(options: CommandInput['options'], name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** An option that is there or not. */
export function hasOption(options: CommandInput['options'], name: string): boolean {
  return options[name] === true;
}
