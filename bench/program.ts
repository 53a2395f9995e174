/** Runs the whole program in a separate process and sends it HTTP requests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchContext, Spent } from './frame/bench.ts';
import type { ProbeCounts } from './frame/probe.ts';
import { spentBy } from './frame/processes.ts';

/** Limit of output characters shown for a program that exits unexpectedly. */
const LAST = 4000;
const PROBE = new URL('./frame/probe.js', import.meta.url).href;
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

export interface Program {
  readonly pid: number | undefined;
  /** Base URLs of the batch service and the portal; empty for one that is off. */
  readonly batch: string;
  readonly portal: string;
  /** Authentication headers for the batch service and the portal. */
  readonly batchKey: Readonly<Record<string, string>>;
  readonly portalKey: Readonly<Record<string, string>>;
  /** Sends a request to one service and parses the answer. Rejects when it is refused. */
  ask<Body>(service: 'batch' | 'portal', path: string, init?: RequestInit): Promise<Body>;
  spent(): Spent | undefined;
  /** Asks the probe of a probed program for its totals. */
  counts(): Promise<ProbeCounts>;
  /** Stops the program and reports its resource use to the context. */
  stop(): Promise<void>;
}

/**
 * Starts the program below `root`, on free ports, without rate limits.
 * @param settings additional ones, as `Section:Key`
 * @param options `probed`: `counts` works, at a small cost of each counted operation
 */
export async function startProgram(
  context: BenchContext,
  root: string,
  settings: Readonly<Record<string, string | number | boolean>> = {},
  { probed = false }: { probed?: boolean } = {},
): Promise<Program> {
  const all = {
    'Storage:Root': root,
    'Batch:Url': 'http://127.0.0.1:0',
    'Portal:Url': 'http://127.0.0.1:0',
    'RateLimiting:Enabled': false,
    ...settings,
  };
  const words = Object.entries(all).map(([key, value]) => `--${key}=${value}`);
  const child = spawn(process.execPath, [...(probed ? ['--import', PROBE] : []), MAIN, 'serve', ...words], {
    stdio: ['ignore', 'pipe', 'inherit', ...(probed ? (['ipc'] as const) : [])],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close');
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    void ended.then(() => reject(new Error(`The program ended: ${printed}`)));
    child.stdout?.on('data', (piece: Buffer) => {
      printed += piece.toString();
      if (printed.includes('Ready')) resolve();
    });
  });
  let last = printed;
  child.stdout?.removeAllListeners('data').on('data', (piece: Buffer) => {
    last = (last + piece.toString()).slice(-LAST);
  });
  const tellEnd = (code: number | null, signal: string | null) =>
    process.stderr.write(`The program ended by itself (${signal ?? code}). It said last:\n${last}\n`);
  child.once('close', tellEnd);
  const url = (name: string) => new RegExp(`${name}\\s+(http:\\S+)`).exec(printed)?.[1] ?? '';
  const key = (name: string) => readFileSync(join(root, 'keys', name), 'utf8').trim();
  const spent = () => spentBy(child.pid);
  const program: Program = {
    pid: child.pid,
    batch: url('Batch API'),
    portal: url('Portal'),
    get batchKey() {
      return { 'X-API-Key': key('api-key') };
    },
    get portalKey() {
      return { 'X-Api-Key': `default|${key('portal-application-secret')}` };
    },
    async ask(service, path, init = {}) {
      const headers = { ...program[`${service}Key`], ...init.headers };
      const answer = await fetch(`${program[service]}${path}`, { ...init, headers });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    spent,
    async counts() {
      const answer = once(child, 'message');
      child.send('counts');
      const [counts] = await answer;
      return counts as ProbeCounts;
    },
    async stop() {
      const used = spent();
      if (used) context.spent(used);
      child.off('close', tellEnd);
      child.kill('SIGTERM');
      await ended;
      process.off('exit', kill);
    },
  };
  return program;
}
