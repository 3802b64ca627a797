/** The answer of a route: a response, the text of a response, or a function that returns either. */
export type RouteAnswer =
  | string
  | Response
  | ((request: Request) => Response | string | Promise<Response | string>);

/** Answers by `METHOD url` or `url`. A route without a query also answers requests with a query. */
export type Routes = Readonly<Record<string, RouteAnswer>>;

/** A public address that is assigned to nobody, so that a connection to it would reach nothing. */
const NOBODYS_ADDRESS = '3000::1';

export interface FakeFetch {
  fetch: typeof globalThis.fetch;
  /** A resolver that accepts every name and asks no server. */
  lookup: (hostname: string) => Promise<readonly { address: string }[]>;
  /** All allowed requests, the oldest first. */
  readonly requests: Request[];
}

/** Creates a `fetch` that answers from a table, and with status 404 for everything else. */
export function createFakeFetch(routes: Routes): FakeFetch {
  const requests: Request[] = [];
  return {
    requests,
    lookup: async () => [{ address: NOBODYS_ADDRESS }],
    async fetch(input, init = {}) {
      const { dispatcher: _, ...rest } = { dispatcher: undefined, ...init };
      const request = new Request(input, rest);
      requests.push(request.clone());
      request.signal.throwIfAborted();
      const answer = find(routes, request);
      if (answer === undefined) {
        return new Response(`no route for ${request.method} ${request.url}`, { status: 404 });
      }
      const given =
        typeof answer === 'function'
          ? await Promise.race([answer(request), aborted(request.signal)])
          : answer;
      if (typeof given === 'string') return new Response(given);
      if (given instanceof Response) return given.clone();
      throw new TypeError(
        `the route for ${request.url} answers ${typeof given}; give a string, a Response, or a function that returns one`,
      );
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function find(routes: Routes, { method, url }: Request): RouteAnswer | undefined {
  const bare = url.replace(/\?.*$/s, '');
  for (const key of [`${method} ${url}`, url, `${method} ${bare}`, bare]) {
    if (Object.hasOwn(routes, key)) return routes[key];
  }
  // A key as people write it: `https://api.example.com` for `https://api.example.com/`.
  return Object.entries(routes).find(([key]) => {
    const [, verb, target] = /^(?:([A-Z]+) )?(.*)$/s.exec(key) ?? [];
    const href = hrefOf(target);
    return (verb === undefined || verb === method) && (href === url || href === bare);
  })?.[1];
}

// `URL.canParse` of Node.js 20 misreads Latin-1 strings once the engine has optimized it.
function hrefOf(target: string | undefined): string | undefined {
  try {
    return target && new URL(target).href;
  } catch {
    return undefined;
  }
}
