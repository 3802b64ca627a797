import type { CommandContext } from './command-context.js';

/** The input of a command. */
export interface CommandInput {
  context: CommandContext;
  /** The arguments in order, without options. */
  args: readonly string[];
  /** The options by their long names in camel case. */
  options: Readonly<Record<string, unknown>>;
  /** All commands, for those that list them. */
  commands: readonly CommandSpec[];
}

/** The exports of a command's file. */
export interface CommandModule {
  /** @returns the exit code */
  run(input: CommandInput): Promise<number>;
}

/** A command as help and completion show it. Its code is loaded when it runs. */
export interface CommandSpec {
  name: string;
  summary: string;
  /** Such as `[tool]` or `<name>`, each with its meaning. */
  args?: readonly (readonly [name: string, about: string])[];
  /** Such as `--json` or `--session <id>`, each with its effect. */
  options?: readonly (readonly [flags: string, about: string])[];
  /** The command line must name one of these after the command. */
  children?: readonly CommandSpec[];
  load?: () => Promise<CommandModule>;
}

/** The value of an option that takes a text. */
export function textOption(options: CommandInput['options'], name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether an option without a value is given. */
export function hasOption(options: CommandInput['options'], name: string): boolean {
  return options[name] === true;
}
