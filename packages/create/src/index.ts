export type { CreatedProject, CreateOptions, CreateQuestions } from './create-project.js';
export { createProject, nextCommands } from './create-project.js';
export type { HomeAnswers } from './home-files.js';
export type { InputEnd } from './input-end.js';
export { inputEnd } from './input-end.js';
export { writeHome } from './write-home.js';
