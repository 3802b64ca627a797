export { showControls } from './controls.js';
export { showInvisible } from './invisible.js';
export { plainLines } from './lines.js';
