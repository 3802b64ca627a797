export type { CreatedProject, CreateOptions, CreateQuestions } from './create-project.js';
export { createProject, nextCommands } from './create-project.js';
export type { HomeAnswers } from './home-files.js';
export { writeHome } from './write-home.js';
