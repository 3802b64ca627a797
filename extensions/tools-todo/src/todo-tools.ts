import type { AnyTool } from '@ethosagent/types';
import { todoAddTool } from './todo-add.js';
import { todoClearTool } from './todo-clear.js';
import { todoListTool } from './todo-list-tool.js';
import { todoSetTool } from './todo-set.js';
import { todoUpdateTool } from './todo-update.js';

/**
 * `todo_set`, `todo_add`, `todo_update`, `todo_list` and `todo_clear`. On a dry run they make every check,
 * and store nothing. No output is untrusted: the model wrote the list.
 *
 * @returns the tools, to be registered
 */
export function createTodoTools(): AnyTool[] {
  return [todoSetTool, todoAddTool, todoUpdateTool, todoListTool, todoClearTool];
}
