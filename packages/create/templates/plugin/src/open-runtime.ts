import { join } from 'node:path';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import plugin from './index.js';

/** A runtime with the plugin, under the personality in `.ethos`. */
export function openRuntime(): Promise<ToolRuntime> {
  const project = join(import.meta.dirname, '..');
  return createToolRuntime({
    home: join(project, '.ethos'),
    cwd: project,
    personality: 'assistant',
    tools: [],
    plugins: [plugin],
  });
}
