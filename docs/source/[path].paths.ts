import { sourcePages } from '../site/sources.js';

/** A page for each file that the other pages link to. */
export default {
  paths: () => sourcePages().map(({ path, content }) => ({ params: { path }, content })),
};
