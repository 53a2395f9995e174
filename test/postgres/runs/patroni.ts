/**
 * Members of one PostgreSQL cluster that Patroni keeps, with a store for the lease of their leader, for runs with
 * fail-overs: on free ports of the loopback address. Needs the packages `etcd-server`, `patroni` and `postgresql`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../commands/free-port.ts';
import { postgresPrograms } from '../../verifiers/tool.ts';
import { asServerUser } from '../cluster.ts';
import { type FaultyLine, startProxy } from '../proxy.ts';

/** Seconds: time to live of the leader's lease, pause between looks, and patience with the store of the lease. */
const LEASE = { ttl: 6, loop_wait: 1, retry_timeout: 2 };

const START_TIMEOUT_MS = 120_000;

export interface Member {
  readonly name: string;
  /** Port of its database. */
  readonly port: number;
  /** Ends Patroni and the database at once, as the end of the machine would. */
  kill(): Promise<void>;
  /** Stops Patroni, the database and its processes, or lets them go on. */
  freeze(): void;
  thaw(): void;
  /** Starts Patroni again after `kill`. */
  start(): void;
  /** File with all that Patroni and the database wrote. */
  readonly log: string;
  /** Line to the store of the leader's lease. */
  readonly line: FaultyLine;
}

export interface PatroniCluster {
  /** Hosts of all members, for a database `app`. */
  readonly url: string;
  readonly members: readonly Member[];
  /** Name of the leader as the members know it; undefined while there is none. */
  leader(): Promise<string | undefined>;
  /** True while a leader has a synchronous standby. */
  isSafe(): Promise<boolean>;
  switchOver(): Promise<void>;
  /** Ends it, and removes its folder unless `isKept`. */
  remove(isKept?: boolean): Promise<void>;
}

/** True where the programs are installed. */
export function hasPatroni(): boolean {
  return ['/usr/bin/etcd', '/usr/bin/patroni'].every(existsSync) && postgresPrograms() !== undefined;
}

interface Described {
  readonly members?: readonly { readonly name: string; readonly role: string; readonly state: string }[];
}

export async function startPatroni(members = 2): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-patroni-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'etcd'), { mode: 0o700 });
  const store = await freePort();
  const peers = await freePort();
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', folder]);
  const run = (program: string, args: readonly string[], name: string): ChildProcess => {
    const [command, all] = asServerUser(program, args);
    const log = openSync(join(folder, `${name}.log`), 'a');
    const started = spawn(command, all, { stdio: ['ignore', log, log], cwd: folder });
    closeSync(log);
    return started;
  };
  const urls = { client: `http://127.0.0.1:${store}`, peer: `http://127.0.0.1:${peers}` };
  const etcd = run(
    '/usr/bin/etcd',
    [
      '--name',
      'e',
      '--data-dir',
      join(folder, 'etcd'),
      '--log-level',
      'error',
      '--listen-client-urls',
      urls.client,
      '--advertise-client-urls',
      urls.client,
      '--listen-peer-urls',
      urls.peer,
      '--initial-advertise-peer-urls',
      urls.peer,
      '--initial-cluster',
      `e=${urls.peer}`,
      '--unsafe-no-fsync',
    ],
    'etcd',
  );
  const made: (Member & { readonly rest: number; end(): Promise<void> })[] = [];
  for (let number = 1; number <= members; number += 1)
    made.push(await makeMember(folder, number, store, run));

  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    for (const { rest } of made) {
      const signal = AbortSignal.timeout(1500);
      const response = await fetch(`http://127.0.0.1:${rest}${path}`, { signal, ...init }).catch(
        () => undefined,
      );
      if (response?.ok) return response;
    }
    throw new Error(`No member answers ${path}.`);
  };
  const described = async () =>
    (
      (await ask('/cluster')
        .then((response) => response.json())
        .catch(() => ({}))) as Described
    ).members ?? [];
  const isSafe = async () => {
    const all = await described();
    return all.some(({ role }) => role === 'leader') && all.some(({ role }) => role === 'sync_standby');
  };
  const end = Date.now() + START_TIMEOUT_MS;
  while (!(await isSafe())) {
    if (Date.now() > end) throw new Error('Patroni did not start.');
    await sleep(100);
  }
  const leader = async () => (await described()).find(({ role }) => role === 'leader')?.name;
  const led = await leader();
  const at = made.find(({ name }) => name === led)?.port;
  for (const text of ["CREATE ROLE app LOGIN PASSWORD 'app'", 'CREATE DATABASE app OWNER app'])
    execFileSync(
      join(postgresPrograms() ?? '', 'psql'),
      ['-qh', '127.0.0.1', '-p', String(at), '-U', 'postgres', '-c', text],
      { env: { ...process.env, PGPASSWORD: 'su' }, stdio: 'pipe' },
    );
  const hosts = made.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: `postgres://app:app@${hosts}/app?target_session_attrs=read-write`,
    members: made,
    leader,
    isSafe,
    switchOver: async () => {
      const body = JSON.stringify({ leader: await leader() });
      await ask('/switchover', { method: 'POST', body, signal: AbortSignal.timeout(30_000) });
    },
    remove: async (isKept = false) => {
      await Promise.all(made.map((member) => member.end()));
      etcd.kill('SIGKILL');
      if (isKept) console.log(`What the members wrote: ${folder}/p*.log`);
      else rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function makeMember(
  folder: string,
  number: number,
  store: number,
  run: (program: string, args: readonly string[], name: string) => ChildProcess,
) {
  const rest = await freePort();
  const port = await freePort();
  const line = await startProxy(store);
  const name = `p${number}`;
  const data = join(folder, `d${number}`);
  const file = join(folder, `${name}.yml`);
  const local = (to: number) => `127.0.0.1:${to}`;
  writeFileSync(
    file,
    JSON.stringify({
      scope: 'sw',
      name,
      restapi: { listen: local(rest), connect_address: local(rest) },
      etcd3: { hosts: local(line.port), use_proxies: true },
      bootstrap: {
        dcs: {
          ...LEASE,
          synchronous_mode: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: { shared_buffers: '32MB', max_connections: 100, wal_keep_size: '256MB' },
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
        pg_hba: [
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication rep 127.0.0.1/32 scram-sha-256',
        ],
      },
      postgresql: {
        listen: local(port),
        connect_address: local(port),
        data_dir: data,
        bin_dir: postgresPrograms(),
        pgpass: join(folder, `pgpass${number}`),
        // A member that cannot be rewound is copied anew.
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
        parameters: { unix_socket_directories: folder },
        authentication: {
          superuser: { username: 'postgres', password: 'su' },
          replication: { username: 'rep', password: 'rep' },
          rewind: { username: 'rew', password: 'rew' },
        },
      },
    }),
  );
  let patroni: ChildProcess;
  let isWanted = true;
  /** Starts Patroni, and again when it ends by itself, as it does while etcd has not decided on its version. */
  const start = (): void => {
    isWanted = true;
    const started = run('/usr/bin/patroni', [file], name);
    patroni = started;
    started.once('exit', () => {
      setTimeout(() => {
        if (isWanted && patroni === started) start();
      }, 1000);
    });
  };
  start();
  /** Patroni, the database, and all that they started: the database's own processes, a rewind, a base backup. */
  const all = (): number[] => {
    const of = join(data, 'postmaster.pid');
    // A server that recovers by itself writes its number with a minus.
    const server = existsSync(of) ? Math.abs(Number(readFileSync(of, 'utf8').split('\n')[0])) : 0;
    const listed = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
      .split('\n')
      .map((row) => /^ *(\d+) +(\d+) (.*)$/.exec(row))
      .flatMap((row) =>
        row === null ? [] : [{ pid: Number(row[1]), parent: Number(row[2]), args: row[3] }],
      );
    const found = new Set(patroni.pid === undefined ? [] : [patroni.pid]);
    // The file outlives its server, whose number another process may have by now.
    for (const { pid, args } of listed) if (pid === server && args?.includes('postgres')) found.add(pid);
    for (const { pid, parent } of listed) if (found.has(parent)) found.add(pid);
    for (const { pid, parent } of listed) if (found.has(parent)) found.add(pid);
    return [...found];
  };
  const signal = (what: NodeJS.Signals): void => {
    for (const pid of all()) {
      try {
        process.kill(pid, what);
      } catch {
        // It has just ended.
      }
    }
  };
  const kill = async (): Promise<void> => {
    isWanted = false;
    const gone = new Promise((resolve) => patroni.once('exit', resolve));
    const isGone = patroni.exitCode !== null || patroni.signalCode !== null;
    signal('SIGKILL');
    if (!isGone) await gone;
  };
  return {
    name,
    port,
    rest,
    line,
    kill,
    log: join(folder, `${name}.log`),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    start,
    end: async () => {
      signal('SIGCONT');
      await kill();
      await line.close();
    },
  };
}
