export { countWords } from './count-words.js';
