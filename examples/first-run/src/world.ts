import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SECRET = 'sk-demo-5f2d9c41e7';

/** Everything that the demo touches: real folders, a real server, two personalities on disk. */
export interface World {
  /** Kept from run to run, so that the counter goes on. */
  home: string;
  /** Made anew for each run. */
  workspace: string;
  origin: string;
  secret: string;
  close(): void;
}

export async function createWorld(): Promise<World> {
  const home = join(dirname(fileURLToPath(import.meta.url)), '..', '.first-run');
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'first-run-')));
  const server = await startServer();
  const { port } = server.address() as AddressInfo;
  layOutWorkspace(workspace);
  layOutHome(home, port);
  return {
    home,
    workspace,
    origin: `http://127.0.0.1:${port}`,
    secret: SECRET,
    close() {
      server.close();
      server.closeAllConnections();
      rmSync(workspace, { recursive: true, force: true });
    },
  };
}

function layOutWorkspace(workspace: string): void {
  mkdirSync(join(workspace, 'src'));
  writeFileSync(join(workspace, 'src', 'greet.ts'), "export const greet = () => 'hello';\n");
  writeFileSync(join(workspace, 'notes.md'), '# Notes\n\nTODO: greet in French\n');
  symlinkSync('/etc/hostname', join(workspace, 'innocent.txt'));
}

function layOutHome(home: string, port: number): void {
  write(
    join(home, 'personalities', 'coder', 'config.yaml'),
    [
      'name: Coder',
      'description: Edits the workspace, and talks to one API.',
      'toolset: [file, quote, usage_counter, runtime_version, nosy, curious]',
      'fs_reach:',
      '  read: ["${CWD}"]',
      '  write: ["${CWD}"]',
      'safety:',
      '  network:',
      `    allow: ["127.0.0.1:${port}"]`,
      '',
    ].join('\n'),
  );
  write(
    join(home, 'personalities', 'reader', 'config.yaml'),
    [
      'name: Reader',
      'description: Reads the workspace, and nothing else.',
      'toolset: [read_file, search_files]',
      'fs_reach:',
      '  read: ["${CWD}"]',
      '',
    ].join('\n'),
  );
  write(join(home, 'secrets', 'demo', 'quotes', 'apiKey'), SECRET);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
}

function startServer(): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/trap') {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
    } else if (request.headers.authorization !== `Bearer ${SECRET}`) {
      response.writeHead(401).end('no key');
    } else {
      // Echoes the key, as a careless server might: the registry takes it out of the result.
      response.end(
        `Simplicity is prerequisite for reliability. (seen: ${request.headers.authorization})`,
      );
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
