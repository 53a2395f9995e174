#!/usr/bin/env node
/**
 * The entry of the program. It parses on old versions of Node, which cannot load the rest, and tells people which one
 * they need.
 */
import { isTooOld, OLDEST_NODE } from './commands/oldest-node.ts';

if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `sealwright needs Node ${OLDEST_NODE} or newer; this is Node ${process.versions.node}.\n`,
  );
  process.exit(1);
}
import('./commands/command-line/program.ts').catch((error) => {
  // The binary of the store is loaded with the code that uses it.
  if (error.code !== 'ERR_DLOPEN_FAILED') throw error;
  const reason = String(error.message).split('\n', 1)[0];
  process.stderr.write(
    `sealwright: A binary does not load on this system: ${reason}\n` +
      'The store (lmdb) needs glibc 2.34 or newer, as in Debian 12 and Ubuntu 22.04, or musl. Use a newer system or image, and run "npm ci" on it.\n',
  );
  process.exit(1);
});
