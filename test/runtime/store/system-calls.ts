/** Runs a program under `strace` and reads its system calls, so that tests can check what was written and synced. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** One call, in the order in which calls ended. */
export interface SystemCall {
  readonly name: string;
  /** As strace writes them: texts in quotes with their bytes as `\x41`. */
  readonly args: string;
  readonly result: number;
  /** Places in the log at which it began and ended; whatever ended before another began, happened before it. */
  readonly begun: number;
  readonly ended: number;
}

/** Longest text of a call that is kept, bytes: longer than what a test writes at once. */
const MAX_TEXT = 16 * 1024 * 1024;

/**
 * Starts a program of ours under strace, all its threads with it.
 * @param calls names of the system calls to note
 * @param paths only calls on these files
 * @param more further arguments of strace
 */
export function traced(
  program: readonly string[],
  options: {
    readonly log: string;
    readonly calls: readonly string[];
    readonly paths?: readonly string[];
    readonly more?: readonly string[];
    readonly stdout: number | 'ignore' | 'pipe';
    readonly env?: NodeJS.ProcessEnv;
  },
): ChildProcess {
  const { log, calls, paths = [], more = [], stdout, env = {} } = options;
  const only = paths.flatMap((path) => ['-P', path]);
  const args = [
    '-f',
    '-q',
    '-xx',
    '-s',
    String(MAX_TEXT),
    '-e',
    `trace=${calls.join(',')}`,
    ...only,
    ...more,
  ];
  return spawn('strace', [...args, '-e', 'signal=none', '-o', log, process.execPath, ...program], {
    stdio: ['ignore', stdout, 'inherit'],
    env: { ...process.env, UV_USE_IO_URING: '0', ...env },
  });
}

/** Reads the log of `traced`, calls that were never ended left out. */
export async function readCalls(log: string): Promise<readonly SystemCall[]> {
  const calls: SystemCall[] = [];
  /** By thread: the call under way. */
  const begun = new Map<string, { readonly name: string; readonly args: string; readonly at: number }>();
  let at = 0;
  for await (const line of createInterface({ input: createReadStream(log, 'latin1') })) {
    at += 1;
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    const resumed = /^<\.\.\. (\w+) resumed>(.*)$/s.exec(rest);
    const opening = /^(\w+)\((.*)$/s.exec(rest);
    const unfinished = ' <unfinished ...>';
    if (rest.endsWith(unfinished) && opening !== null) {
      const [, name = '', args = ''] = opening;
      begun.set(thread, { name, args: args.slice(0, -unfinished.length), at });
      continue;
    }
    const before = resumed === null ? undefined : begun.get(thread);
    const name = resumed?.[1] ?? opening?.[1];
    const tail = resumed === null ? opening?.[2] : `${before?.args ?? ''}${resumed[2]}`;
    const end = /^(.*)\)\s+= (-?\d+)/s.exec(tail ?? '');
    begun.delete(thread);
    if (name === undefined || end === null) continue;
    const [, args = '', result] = end;
    calls.push({ name, args, result: Number(result), begun: before?.at ?? at, ended: at });
  }
  return calls;
}

/** All texts in the arguments of a call, one after the other. */
export function bytesIn(args: string): Buffer {
  const texts = args.match(/"(?:\\x[0-9a-f]{2})*"/g) ?? [];
  return Buffer.from(texts.join('').replaceAll('"', '').replaceAll('\\x', ''), 'hex');
}

/** Arguments with bytes and paths as characters. */
export function plainArgs(args: string): string {
  return args.replace(/(?:\\x[0-9a-f]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll('\\x', ''), 'hex').toString('latin1'),
  );
}
