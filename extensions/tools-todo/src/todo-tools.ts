import type { AnyTool } from '@ethosagent/types';
import { todoAddTool } from './todo-add.js';
import { todoClearTool } from './todo-clear.js';
import { todoListTool } from './todo-list-tool.js';
import { todoSetTool } from './todo-set.js';
import { todoUpdateTool } from './todo-update.js';

/**
 * Creates `todo_set`, `todo_add`, `todo_update`, `todo_list` and `todo_clear`. On a dry run, they
 * check everything and store nothing. Their output is not marked as untrusted, because the model
 * wrote the list.
 *
 * @returns the five tools, ready to register
 */
export function createTodoTools(): AnyTool[] {
  return [todoSetTool, todoAddTool, todoUpdateTool, todoListTool, todoClearTool];
}
