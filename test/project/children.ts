/**
 * Ends every program that a test has started together with the process of that test, however that ends: passed,
 * failed, killed because it hung, or crashed. Required by ava in each of its processes.
 *
 * A handler for signals would not do: a process stuck in a loop never runs it, and would then survive the signal too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Records process ids, and kills the remaining ones when its input ends. */
const REAPER = `
while read -r what id; do
  if [ "$what" = started ]; then set -- "$@" "$id"; continue; fi
  for one; do shift; [ "$one" = "$id" ] || set -- "$@" "$one"; done
done
[ "$#" -eq 0 ] || kill -9 "$@" 2>/dev/null`;

let reaper: ChildProcess | undefined;

function tell(line: string): void {
  if (reaper === undefined) {
    // In a session of its own: Ctrl-C is for everybody else.
    reaper = spawn('sh', ['-c', REAPER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    reaper.on('error', () => {});
    reaper.stdin?.on('error', () => {});
    reaper.unref();
    (reaper.stdin as Socket | null)?.unref();
  }
  reaper.stdin?.write(`${line}\n`);
}

subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  child.once('spawn', () => {
    if (child === reaper) return;
    tell(`started ${child.pid}`);
    child.once('exit', () => tell(`ended ${child.pid}`));
  });
});

// Ctrl-C reaches a whole terminal. Ava then says which tests were running, and ends its processes itself.
process.on('SIGINT', () => {});
