/** The path of the socket in a sandbox. */
export const SOCKET_IN_SANDBOX = '/run/ethos/proxy';

/**
 * A program that runs a command with a proxy on a port of the sandbox's own loopback, and forwards
 * connections to the socket:
 * `node -e FORWARDER <socket> <descriptor or nothing> <command> <arguments>`.
 */
export const FORWARDER = `
const net = require('node:net');
const { spawn } = require('node:child_process');
const { signals } = require('node:os').constants;
const [path, passed, command, ...args] = process.argv.slice(1);
const stdio = ['inherit', 'inherit', 'inherit'];
if (passed) stdio[passed] = Number(passed);
for (let at = 3; at < stdio.length; at++) stdio[at] ??= 'ignore';
const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const out = net.connect({ path, allowHalfOpen: true });
  client.on('error', () => out.destroy()).on('close', () => out.destroy());
  out.on('error', () => client.destroy()).on('close', () => client.destroy());
  client.pipe(out).pipe(client);
});
server.listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1' };
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']) {
    env[name] = env[name.toLowerCase()] = name === 'NO_PROXY' ? '' : url;
  }
  spawn(command, args, { stdio, env })
    .on('error', () => process.exit(127))
    .on('exit', (code, signal) => process.exit(code ?? 128 + signals[signal]));
});
`;
