/**
 * Counts, inside the measured program, what has no metric: loaded with `node --import` before everything else.
 *
 * The main thread counts its asynchronous file operations, each of which wakes another thread twice; the steps and
 * groups sent to the writing thread; and the tasks and batches sent to the pool. Every thread reports its number in the
 * system, so that processor time and wake-ups can be separated by role.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';
import workers, { BroadcastChannel, isMainThread, threadId, Worker } from 'node:worker_threads';
import { threadCosts } from './processes.ts';

/** Totals since the start of the program. */
export interface ProbeCounts {
  /** Milliseconds in which the main thread's event loop was active. */
  readonly activeMs: number;
  /** Number of events by name: `steps`, `groups`, `tasks`, `batches`, and `file …` by function. */
  readonly counts: { readonly [name: string]: number };
  /** Role by number of a thread in the system. */
  readonly threads: { readonly [thread: string]: string };
}

const CHANNEL = 'sealwright-bench-probe';
/** Functions of `fs` and `fs/promises` that run on another thread. */
const FILE_FUNCTIONS = [
  'access',
  'close',
  'fdatasync',
  'fsync',
  'link',
  'lstat',
  'mkdir',
  'open',
  'opendir',
  'read',
  'readdir',
  'readFile',
  'realpath',
  'rename',
  'rm',
  'rmdir',
  'stat',
  'unlink',
  'utimes',
  'write',
  'writeFile',
];
/** Operations that tell the threads of the file library, usually four, from others. */
const FILE_PROBES = 128;
const HANDLE_FUNCTIONS = [
  'close',
  'datasync',
  'read',
  'readFile',
  'stat',
  'sync',
  'truncate',
  'utimes',
  'write',
];

type Functions = { [name: string]: ((...given: never[]) => unknown) | undefined };

const counts: { [name: string]: number } = {};
const threads: { [thread: string]: string } = {};

function count(name: string, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by;
}

/** Counts the calls of one function. */
function counted(
  functions: Functions,
  name: string,
  as: string,
  by?: (given: readonly unknown[]) => number,
): void {
  const original = functions[name];
  if (original === undefined) return;
  functions[name] = function counting(this: unknown, ...given: never[]) {
    count(as, by?.(given));
    return original.apply(this, given);
  };
}

function numberOfThread(): string {
  return fs.readlinkSync('/proc/thread-self').split('/').at(-1) ?? '';
}

/** Names the threads of the file library by the operations that wake them, since nothing else distinguishes them. */
async function nameFileThreads(): Promise<void> {
  const before = threadCosts('self');
  for (let n = 0; n < FILE_PROBES; n += 1) await fs.promises.stat('/');
  for (const [thread, { wakeUps }] of threadCosts('self'))
    if (wakeUps - (before.get(thread)?.wakeUps ?? 0) > FILE_PROBES / 16) threads[thread] ??= 'files';
}

async function countFiles(): Promise<void> {
  const handle = await fs.promises.open('/dev/null');
  const prototype = Object.getPrototypeOf(handle) as Functions;
  await handle.close();
  for (const name of HANDLE_FUNCTIONS) counted(prototype, name, `file ${name}`);
  for (const name of FILE_FUNCTIONS) {
    counted(fs.promises as unknown as Functions, name, `file ${name}`);
    counted(fs as unknown as Functions, name, `file ${name}`);
  }
  syncBuiltinESMExports();
}

function countSteps(): void {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function counting(this: Worker, ...message) {
    const { type, writes } = (message[0] ?? {}) as {
      readonly type?: unknown;
      readonly writes?: readonly unknown[];
    };
    if (type === 'group') {
      count('groups');
      for (const write of writes ?? []) {
        const step = typeof write === 'string';
        count(step ? 'steps' : 'other writes');
        if (step) count(`steps of ${kindOf(write)}`);
      }
    }
    post.apply(this, message);
  };
}

/** The kind of actor in the text of a step, whose plan begins with kind and id (`stepText`). */
function kindOf(text: string): string {
  return /^\[\["([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}

function countTasks(): void {
  const { Piscina } = createRequire(import.meta.url)('piscina') as {
    readonly Piscina: { prototype: Functions };
  };
  const run = Piscina.prototype['run'];
  Piscina.prototype['run'] = function counting(this: unknown, ...given: never[]) {
    const tasks = given[0] as unknown as readonly { readonly task: string }[];
    if (tasks.length > 0) count('batches');
    for (const { task } of tasks) {
      count('tasks');
      count(`task ${task}`);
    }
    return run?.apply(this, given);
  };
}

/** Role of a worker by the data it was started with. */
function roleOf(data: unknown): string {
  const given = (Array.isArray(data) ? data.at(-1) : data) as { readonly [name: string]: unknown } | null;
  if (given?.['heartbeat'] !== undefined && given['setup'] !== undefined) return 'pool';
  if (typeof given?.['folder'] === 'string') return 'store';
  return given?.['store'] === undefined ? 'other threads' : 'shards';
}

if (isMainThread) {
  // Compiles now what the first request would otherwise pay for.
  createHash('sha256').update('').digest();
  threads[numberOfThread()] = 'main';
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: { data: unknown }) => {
    const { thread, role } = data as { readonly thread: string; readonly role: string };
    threads[thread] = role;
  };
  channel.unref();
  await nameFileThreads();
  await countFiles();
  countSteps();
  countTasks();
  process.on('message', () => {
    const activeMs = performance.eventLoopUtilization().active;
    process.send?.({ activeMs, counts, threads } satisfies ProbeCounts);
  });
  process.channel?.unref();
} else {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage({ thread: numberOfThread(), role: roleOf(workers.workerData), id: threadId });
  channel.close();
}
