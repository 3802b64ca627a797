/**
 * Returns the code that gives a JavaScript program its `tools`. Node loads it before the program.
 * Each tool sends a line, and waits for the line with the same id. The program does not end while a
 * tool waits.
 */
export function javascriptPrelude(names: readonly string[]): string {
  return PRELUDE.replace('NAMES', () => JSON.stringify(names));
}

const PRELUDE = `'use strict';
(() => {
  if (!require('node:worker_threads').isMainThread) return;
  const { Socket } = require('node:net');
  const names = NAMES;
  class ToolError extends Error {
    constructor(code, message) {
      super(message);
      this.name = 'ToolError';
      this.code = code;
    }
  }
  const waiting = new Map();
  let socket;
  let ended;
  let lastId = 0;
  const end = (code, message) => {
    ended ??= { ok: false, code, error: message };
    for (const answer of waiting.values()) answer(ended);
    waiting.clear();
    // What is not written yet would keep the program from ending.
    socket?.destroy();
  };
  const take = (line) => {
    const answer = JSON.parse(line);
    if (answer.end === true) return end(answer.code, answer.error);
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
    if (waiting.size === 0) socket.unref();
  };
  const open = () => {
    let parts = [];
    socket = new Socket({ fd: 4, readable: true, writable: true });
    socket.setEncoding('utf8');
    socket.on('data', (text) => {
      const lines = text.split('\\n');
      for (let at = 0; at < lines.length - 1; at++) {
        parts.push(lines[at]);
        const line = parts.join('');
        parts = [];
        take(line);
      }
      parts.push(lines[lines.length - 1]);
    });
    socket.on('error', () => {});
    socket.on('close', () => end('CALL_ENDED', 'CALL_ENDED: the program can make no more calls'));
  };
  const full = async (tool, args = {}) => {
    if (socket === undefined) open();
    const id = ++lastId;
    const line = JSON.stringify({ id, tool, args }) + '\\n';
    const answer = ended ?? (await new Promise((resolve) => {
      waiting.set(id, resolve);
      socket.ref();
      socket.write(line);
    }));
    if (!answer.ok) throw new ToolError(answer.code, answer.error);
    return { text: answer.text, structured: answer.structured };
  };
  const tools = Object.create(null);
  for (const name of names) {
    const tool = async (args) => (await full(name, args)).text;
    tool.full = (args) => full(name, args);
    Object.defineProperty(tools, name, { value: Object.freeze(tool), enumerable: true });
  }
  const known = new Proxy(Object.freeze(tools), {
    get: (_, name) => {
      if (typeof name === 'symbol' || name in tools) return tools[name];
      // What asks whether it is a promise, or how it is shown as JSON.
      if (name === 'then' || name === 'toJSON') return undefined;
      throw new ToolError(
        'TOOL_NOT_CALLABLE',
        'TOOL_NOT_CALLABLE: ' + name + ' is not a tool that this program may call; there are ' + names.join(', '),
      );
    },
  });
  for (const [name, value] of [['tools', known], ['ToolError', ToolError]]) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
})();
`;
