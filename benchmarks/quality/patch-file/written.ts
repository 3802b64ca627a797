import type { Versions } from './corpus.js';

function versions(name: string, before: string, after: string): Versions {
  return { name, before, after };
}

/** Edits in languages where indentation is meaning, or where it is of tabs. */
export const WRITTEN: readonly Versions[] = [
  versions(
    'orders.py',
    `class Orders:
    """Keeps orders.

    They are kept by id.
    """

    def __init__(self, store):
        self.store = store
        self.seen = set()

    def total(self, ids):
        total = 0
        for key in ids:
            order = self.store.get(key)
            total += order.price
        return total

    def names(self, ids):
        names = []
        for key in ids:
            if key in self.seen:
                continue
            names.append(self.store.get(key).name)
        return names


def main():
    orders = Orders({})
    print(orders.total([1, 2]))
    for name in orders.names([1, 2]):
        print(name)
`,
    `class Orders:
    """Keeps orders.

    They are kept by id.
    """

    def __init__(self, store, currency='EUR'):
        self.store = store
        self.seen = set()
        self.currency = currency

    def total(self, ids):
        total = 0
        for key in ids:
            order = self.store.get(key)
            if order is not None:
                total += order.price
        return total

    def names(self, ids):
        names = []
        for key in ids:
            if key in self.seen:
                continue
            names.append(self.store.get(key).name)
            self.seen.add(key)
        self.flush()
        return names


def main():
    with Orders({}) as orders:
        print(orders.total([1, 2]))
        for name in orders.names([1, 2]):
            print(name)
`,
  ),
  versions(
    'unwrap.py',
    `def load(path):
    if path:
        with open(path) as file:
            for line in file:
                line = line.strip()
                if line:
                    yield line
    else:
        yield None
    log("done")
    log("closed")
    return
`,
    `def load(path):
    with open(path) as file:
        for line in file:
            line = line.strip()
            if line:
                yield line
            count(line)
    log("done")
    log("all")
    log("closed")
    return
`,
  ),
  versions(
    'server.go',
    `package main

import (
	"fmt"
	"net/http"
)

type server struct {
	name string
	port int
}

func (s *server) run() error {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello %s", s.name)
	})
	for i := 0; i < 3; i++ {
		if err := try(i); err != nil {
			return err
		}
	}
	return http.ListenAndServe(fmt.Sprintf(":%d", s.port), mux)
}
`,
    `package main

import (
	"fmt"
	"log"
	"net/http"
)

type server struct {
	name string
	port int
	log  *log.Logger
}

func (s *server) run() error {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" {
			w.WriteHeader(405)
			return
		}
		fmt.Fprintf(w, "hello %s", s.name)
	})
	for i := 0; i < 5; i++ {
		if err := try(i); err != nil {
			s.log.Print(err)
			continue
		}
	}
	return http.ListenAndServe(fmt.Sprintf(":%d", s.port), mux)
}
`,
  ),
  versions(
    'Makefile.mk',
    `CC = gcc
CFLAGS = -Wall \\
         -O2

all: main.o util.o
	$(CC) -o app main.o util.o
	@echo "built"

main.o: main.c
	$(CC) $(CFLAGS) -c main.c

clean:
	rm -f *.o
	rm -f app
`,
    `CC = clang
CFLAGS = -Wall \\
         -Wextra \\
         -O2

all: main.o util.o log.o
	$(CC) -o app main.o util.o log.o
	@strip app
	@echo "built"

main.o: main.c main.h
	$(CC) $(CFLAGS) -c main.c
ifdef DEBUG
	@echo "main"
endif

clean:
	rm -f *.o
	@if [ -f app ]; then \\
		rm app; \\
	fi
`,
  ),
  versions(
    'ci.yaml',
    `name: ci
on:
  push:
    branches: [main]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: |
          npm ci
          npm test
      - run: npm pack
`,
    `name: ci
on:
  push:
    branches: [main, next]
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [20, 22]
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - run: |
          npm ci
          npm run build
          npm test
      - run: npm pack
`,
  ),
  versions(
    'list.md',
    `# Notes

- first
- second
  - under second
  - "quoted" words

1. one
2. two

Some text that goes on
over two lines.
`,
    `# Notes

- first
  - under first
- second
  - under second
    - deeper still
  - "quoted" words

1. one

   A paragraph of one.

2. two
3. three

Some text that goes on
over three
lines.
`,
  ),
  versions(
    'view.tsx',
    `export function View({ items, title }) {
  const shown = items.filter((item) => item.visible);
  return (
    <section className="list">
      <h1>{title}</h1>
      {shown.map((item) => (
        <Item key={item.id} name='x' />
      ))}
    </section>
  );
}
`,
    `export function View({ items, title, onPick }) {
  const shown = items
    .filter((item) => item.visible)
    .slice(0, 10);
  return (
    <section className="list">
      {title ? (
        <h1>{title}</h1>
      ) : null}
      {shown.map((item) => (
        <Item key={item.id} name='x' onPick={() => onPick(item)} />
      ))}
    </section>
  );
}
`,
  ),
  versions(
    'mixed.sh',
    `#!/bin/sh
set -eu
if [ -n "$1" ]; then
    echo 'one'   # first
    echo  two
	echo "tabbed"
fi
cat <<END
  kept
END
`,
    `#!/bin/sh
set -eu
if [ -n "$1" ]; then
    echo 'one'   # first
    echo  two  three
    echo four
	echo "tabbed"
	echo 'again'
fi
cat <<END
  kept
    deeper
END
`,
  ),
];
