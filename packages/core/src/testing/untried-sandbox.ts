// Asks for the sandbox without a free descriptor, and then again. Prints both answers as JSON.
import { closeSync, openSync } from 'node:fs';
import { bubblewrapSandbox } from '@ethosagent/process';
import { errorCodeOf } from '@ethosagent/types';

const ask = async () => {
  try {
    return await bubblewrapSandbox.isAvailable('/usr/bin:/bin');
  } catch (error) {
    return errorCodeOf(error);
  }
};

// What is loaded at the first use needs descriptors too.
await bubblewrapSandbox.isAvailable('');
const opened: number[] = [];
try {
  for (;;) opened.push(openSync('/dev/null', 'r'));
} catch {
  // No descriptor is free now. A few are given back, for the files that are opened before the
  // program starts.
  for (const descriptor of opened.splice(-3)) closeSync(descriptor);
}
const before = await ask();
for (const descriptor of opened) closeSync(descriptor);
process.stdout.write(JSON.stringify([before, await ask()]));
