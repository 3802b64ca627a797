import type { ReachMatrix } from '../inspect-api.js';
import { fill, h } from './dom.js';
import { reachView } from './reach-view.js';

// The page of `reach --html`, which contains the matrix.
const matrix: ReachMatrix = JSON.parse(document.querySelector('#matrix')?.textContent ?? '');
const main = document.querySelector('main') ?? document.body;
document.title = `Reach of ${matrix.personality}`;
fill(main, h('h1', {}, `Reach of ${matrix.personality}`), reachView(matrix));
