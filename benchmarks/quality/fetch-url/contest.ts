import { createServer, type Server } from 'node:http';
import { createInMemoryKvStore, DefaultToolRegistry } from '@ethosagent/core';
import { createWebTools } from '@ethosagent/tools-web';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { type Score, scoreOf, textOfHtml, textOfMarkdown } from './score.js';

/** A page, and the text that a reader comes for, as HTML. */
export interface Page {
  name: string;
  html: string;
  truth: string;
}

/** How two ways of reading did on one page. */
export interface Row {
  name: string;
  ours: Score;
  peer: Score;
  oursMs: number;
  peerMs: number;
}

/** Reads every page with `fetch_url`, and with linkedom, Readability and turndown, one after the other. */
export async function contest(pages: readonly Page[]): Promise<Row[]> {
  const byPath = new Map(pages.map((page, at) => [`/${at}`, page]));
  let calls = 0;
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(byPath.get((request.url ?? '').replace(/\?.*$/, ''))?.html ?? '');
  });
  const origin = await listen(server);
  const fetchUrl = toolFor(new URL(origin).host);
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
  const rows: Row[] = [];
  try {
    for (const [path, { name, truth }] of byPath) {
      const url = origin + path;
      const ours = await timed(() => {
        // Conversions are cached, so each measurement uses a new page.
        calls += 1;
        return fetchUrl(`${url}?${calls}`);
      });
      const peer = await timed(async () => {
        const { document } = parseHTML(await (await fetch(url)).text());
        const article = new Readability(document).parse();
        const content = article?.content ?? '';
        return { content, markdown: turndown.turndown(content) };
      });
      const wanted = textOfHtml(truth);
      rows.push({
        name,
        ours: scoreOf(textOfMarkdown(ours.value), wanted),
        peer: scoreOf(textOfHtml(peer.value.content), wanted),
        oursMs: ours.ms,
        peerMs: peer.ms,
      });
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return rows;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** Processor time of the process with all its threads, which says the same on a busy machine; the better of two. */
async function timed<T>(run: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const times: number[] = [];
  let value = await run();
  for (let tried = 0; tried < 2; tried += 1) {
    const start = process.cpuUsage();
    value = await run();
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1_000);
  }
  return { value, ms: Math.min(...times) };
}

/** The tool as an agent calls it; what it shows of a page, without its own lines about it. */
function toolFor(host: string): (url: string) => Promise<string> {
  const registry = new DefaultToolRegistry({
    ...createInMemoryKvStore(),
    personalityNetworkAllow: [host],
    // However busy the machine is.
    personalityToolSettings: () => ({ timeout_ms: 300_000 }),
  });
  registry.registerAll(createWebTools());
  return async (url) => {
    const calls = [{ toolCallId: 'c', name: 'fetch_url', args: { url, max_chars: 200_000 } }];
    const [answer] = await registry.executeParallel(calls, {
      sessionId: 's',
      sessionKey: 'benchmark',
      platform: 'cli',
      workingDir: '/',
      currentTurn: 1,
      messageCount: 1,
      abortSignal: new AbortController().signal,
      emit: () => {},
      resultBudgetChars: 400_000,
    });
    if (answer?.result.ok !== true) throw new Error(`fetch_url failed: ${answer?.result.error}`);
    return answer.result.value.replace(/^[\s\S]*?\n\n/, '');
  };
}
