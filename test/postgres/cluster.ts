/**
 * A PostgreSQL server of its own for the tests of one process: a new cluster in a temporary folder, on a free port of
 * the loopback address, ended with the process (`test/project/children.ts`).
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import pg from 'pg';

/** Oldest supported version. */
const OLDEST = 15;

/** Milliseconds a server may take to start. */
const START_TIMEOUT_MS = 60_000;

export interface Cluster {
  /** `postgres://…` of the server's first database. */
  readonly url: string;
  readonly port: number;
  /** Stops the server as a crash would (`immediate`) or in order (`fast`), and resolves when it is gone. */
  stop(mode: 'immediate' | 'fast'): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** Folder of the newest installed server programs that are new enough. */
function programs(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root)
    ? readdirSync(root)
        .map(Number)
        .filter((version) => version >= OLDEST)
    : [];
  const newest = versions.sort((left, right) => right - left)[0];
  return newest === undefined ? undefined : join(root, String(newest), 'bin');
}

/** The server refuses to run as root: the package's own user runs it then. */
function asServerUser(command: string, args: readonly string[]): [string, string[]] {
  return process.getuid?.() === 0
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args]]
    : [command, [...args]];
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** True once the server takes statements: it listens earlier, while it still recovers. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Starts a server. Undefined where PostgreSQL is not installed: the test should return, since it has just passed with a
 * line in its log, or failed when SEALWRIGHT_REQUIRE_TOOLS=1.
 */
export async function startCluster(t: ExecutionContext): Promise<Cluster | undefined> {
  const cluster = await startServer();
  if (cluster !== undefined) return cluster;
  const text = `PostgreSQL ${OLDEST} or newer (package postgresql)`;
  if (process.env['SEALWRIGHT_REQUIRE_TOOLS'] === '1') t.fail(`Missing: ${text}.`);
  else {
    t.log(`SKIPPED, missing: ${text}.`);
    t.pass();
  }
  return undefined;
}

/** Starts a server; undefined where PostgreSQL is not installed. */
export async function startServer(): Promise<Cluster | undefined> {
  const bin = programs();
  if (bin === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-postgres-'));
  const data = join(folder, 'data');
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', folder]);
  const [init, initArgs] = asServerUser(join(bin, 'initdb'), [
    ...['-D', data, '-U', 'sealwright', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
  ]);
  execFileSync(init, initArgs, { stdio: 'pipe', cwd: folder });
  const port = await freePort();
  const url = `postgres://sealwright@127.0.0.1:${port}/postgres`;
  let ended: Promise<unknown> = Promise.resolve();
  let pid: number | undefined;
  const start = async () => {
    const [command, args] = asServerUser(join(bin, 'postgres'), [
      ...['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'],
      ...[
        '-c',
        `unix_socket_directories=${folder}`,
        '-c',
        'max_connections=200',
        '-c',
        'shared_buffers=64MB',
      ],
    ]);
    const child = spawn(command, args, { stdio: 'ignore', cwd: folder });
    pid = child.pid;
    ended = new Promise((resolve) => child.once('exit', resolve));
    const end = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(url))) {
      if (Date.now() > end || child.exitCode !== null) throw new Error('PostgreSQL did not start.');
      await sleep(50);
    }
  };
  const stop = async (mode: 'immediate' | 'fast') => {
    if (pid !== undefined) process.kill(pid, mode === 'immediate' ? 'SIGQUIT' : 'SIGINT');
    pid = undefined;
    await ended;
  };
  await start();
  return {
    url,
    port,
    start,
    stop,
    remove: async () => {
      await stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
