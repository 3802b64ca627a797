export { type CliConfig, defineConfig } from './cli-config.js';
export type { CliIo, ProgramToRun } from './cli-io.js';
export { runCli } from './run-cli.js';
