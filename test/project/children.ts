/**
 * Ends every program that a test has started together with the process of that test, however that ends: passed,
 * failed, killed because it hung, or crashed. Then removes the folder for temporary files of that process, which programs
 * inherit. Required by ava in each of its processes.
 *
 * A handler for signals would not do: a process stuck in a loop never runs it, and would then survive the signal too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { chmodSync, mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Short, for paths of sockets have at most 107 bytes. */
const folder = mkdtempSync(join(tmpdir(), 'sw-'));
// Databases and others run as users of their own.
chmodSync(folder, 0o1777);
process.env['TMPDIR'] = folder;

/** Records process ids. When its input ends, it kills the remaining ones and removes the folder, with what they still write. */
const REAPER = `
while read -r what id; do
  if [ "$what" = started ]; then set -- "$@" "$id"; continue; fi
  for one; do shift; [ "$one" = "$id" ] || set -- "$@" "$one"; done
done
[ "$#" -eq 0 ] || kill -9 "$@" 2>/dev/null
for wait in 0 1 3 9; do sleep "$wait"; rm -rf --one-file-system "$SWEPT" 2>/dev/null && break; done`;

// In a session of its own: Ctrl-C is for everybody else.
const reaper: ChildProcess = spawn('sh', ['-c', REAPER], {
  detached: true,
  stdio: ['pipe', 'ignore', 'ignore'],
  env: { ...process.env, SWEPT: folder },
});
reaper.on('error', () => {});
reaper.stdin?.on('error', () => {});
reaper.unref();
(reaper.stdin as Socket | null)?.unref();

const tell = (line: string) => reaper.stdin?.write(`${line}\n`);

subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  child.once('spawn', () => {
    tell(`started ${child.pid}`);
    child.once('exit', () => tell(`ended ${child.pid}`));
  });
});

// Ctrl-C reaches a whole terminal. Ava then says which tests were running, and ends its processes itself.
process.on('SIGINT', () => {});
