export { todoAddTool } from './todo-add.js';
export { todoClearTool } from './todo-clear.js';
export type { TodoCounts, TodoItem, TodoState } from './todo-list.js';
export { TODO_STATES } from './todo-list.js';
export { todoListTool } from './todo-list-tool.js';
export { todoSetTool } from './todo-set.js';
export { createTodoTools } from './todo-tools.js';
export { todoUpdateTool } from './todo-update.js';
