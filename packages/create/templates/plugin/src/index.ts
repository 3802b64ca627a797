import { definePlugin } from '@ethosagent/plugin-sdk';
import { countWords } from './count-words.js';

/** Its id owns the tools: a personality lets them in by `plugins: ['{{name}}']`. */
export default definePlugin({
  id: '{{name}}',
  version: '0.1.0',
  activate(api) {
    api.registerTool(countWords);
    // Shown to the model instead of the tool's own result.
    api.registerReducer({
      toolName: 'count_words',
      reduce: (result) => (result.ok ? { ...result, value: `It has ${result.value}.` } : result),
    });
    api.onUnload(() => {
      // Close here what you opened.
    });
  },
});
