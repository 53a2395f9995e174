/**
 * A PostgreSQL server of its own for the tests of one process: a new cluster in a temporary folder, on a free port of
 * the loopback address, ended with the process (`test/project/children.ts`).
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../commands/free-port.ts';
import { POOLER, postgresPrograms } from '../verifiers/tool.ts';

/** Milliseconds a server may take to start. */
const START_TIMEOUT_MS = 60_000;

export interface Cluster {
  /** `postgres://…` of the server's first database. */
  readonly url: string;
  readonly port: number;
  /** Of its main process. */
  readonly pid: number;
  /** Stops the server as a crash would (`immediate`) or in order (`fast`), and resolves when it is gone. */
  stop(mode: 'immediate' | 'fast'): Promise<void>;
  start(): Promise<void>;
  /** Ends it without a word, as the end of its machine would. */
  kill(): Promise<void>;
  /** Stops its main process from running: connections to it are accepted and never answered. */
  freeze(): void;
  /** Makes a standby a primary that waits for no other standby. */
  promote(): Promise<void>;
  /** Folder of its Unix socket. */
  readonly sockets: string;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** The server refuses to run as root: the package's own user runs it then. */
export function asServerUser(command: string, args: readonly string[]): [string, string[]] {
  return process.getuid?.() === 0
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args]]
    : [command, [...args]];
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
 * Starts a server.
 * @param given.settings of the server, as `name=value`
 * @param given.standbyOf a running server that the new one follows
 * @param given.restored folder of a base backup, which it recovers from
 * @param given.port a free one by default
 */
export async function startServer(
  given: {
    readonly settings?: readonly string[];
    readonly standbyOf?: Cluster;
    readonly restored?: string;
    readonly port?: number;
  } = {},
): Promise<Cluster> {
  const bin = postgresPrograms();
  if (bin === undefined) throw new Error('Missing: postgresql, 15 or newer.');
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-postgres-'));
  const data = join(folder, 'data');
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', folder]);
  const run = (program: string, args: readonly string[]) => {
    const [command, all] = asServerUser(join(bin, program), args);
    execFileSync(command, all, { stdio: 'pipe', cwd: folder });
  };
  if (given.restored !== undefined) {
    renameSync(given.restored, data);
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', data]);
  } else if (given.standbyOf === undefined)
    run('initdb', ['-D', data, '-U', 'sealwright', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']);
  else
    run('pg_basebackup', ['-D', data, '-d', given.standbyOf.url, '-R', '-X', 'stream', '-c', 'fast', '-N']);
  const port = given.port ?? (await freePort());
  const url = `postgres://sealwright@127.0.0.1:${port}/postgres`;
  let ended: Promise<unknown> = Promise.resolve();
  let pid: number | undefined;
  const start = async () => {
    const [command, args] = asServerUser(join(bin, 'postgres'), [
      '-D',
      data,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      `unix_socket_directories=${folder}`,
      '-c',
      'max_connections=400',
      '-c',
      'shared_buffers=64MB',
      ...(given.settings ?? []).flatMap((setting) => ['-c', setting]),
    ]);
    const log = openSync(join(folder, 'log'), 'a');
    const child = spawn(command, args, { stdio: ['ignore', log, log], cwd: folder });
    closeSync(log);
    pid = child.pid;
    ended = new Promise((resolve) => child.once('exit', resolve));
    const limit = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(url))) {
      if (Date.now() > limit || child.exitCode !== null)
        throw new Error(
          `PostgreSQL did not start: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2000)}`,
        );
      await sleep(50);
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    if (pid !== undefined) process.kill(pid, signal);
    pid = undefined;
    await ended;
  };
  const stop = (mode: 'immediate' | 'fast') => end(mode === 'immediate' ? 'SIGQUIT' : 'SIGINT');
  await start();
  return {
    url,
    port,
    get pid() {
      return pid ?? 0;
    },
    sockets: folder,
    start,
    stop,
    kill: () => end('SIGKILL'),
    freeze: () => {
      if (pid !== undefined) process.kill(pid, 'SIGSTOP');
    },
    promote: async () => {
      writeFileSync(join(data, 'postgresql.auto.conf'), "synchronous_standby_names = ''\n");
      run('pg_ctl', ['promote', '-w', '-D', data]);
    },
    remove: async () => {
      await stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Pooler {
  readonly url: string;
  remove(): Promise<void>;
}

/**
 * Starts a pooler of transactions before a server.
 * @param lines of its configuration, besides the addresses
 */
export async function startPooler(server: Cluster, lines: readonly string[] = []): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-pooler-'));
  const port = await freePort();
  const file = join(folder, 'pooler.ini');
  writeFileSync(
    file,
    [
      '[databases]',
      `postgres = host=127.0.0.1 port=${server.port} user=sealwright dbname=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'auth_type = any',
      'unix_socket_dir =',
      'pool_mode = transaction',
      'default_pool_size = 4',
      'max_client_conn = 1000',
      ...lines,
      '',
    ].join('\n'),
  );
  const { uid } = statSync(server.sockets);
  chmodSync(folder, 0o755);
  if (process.getuid?.() === 0) chownSync(file, uid, 0);
  const [command, args] = asServerUser(POOLER, ['-q', file]);
  const child = spawn(command, args, { stdio: 'ignore', cwd: folder });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = `postgres://sealwright@127.0.0.1:${port}/postgres`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error('pgbouncer did not start.');
    await sleep(20);
  }
  return {
    url,
    remove: async () => {
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
