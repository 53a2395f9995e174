/**
 * A pool of connections over the hosts of a URL. `pg` connects to one host and asks it nothing; here the hosts are tried
 * in turn, and all others at once while one does not answer; a server that takes no writes is refused, and connections to
 * earlier hosts are dropped once another one is found. Also finds out that a pooler hands each transaction to another
 * server process (`pooler.ts`).
 *
 * Source: docs/decisions/0271-hosts-and-poolers.md.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import type pg from 'pg';
import { systemClock } from '../../../model/clock.ts';
import { describeFailure, Fatal } from '../../../model/failures.ts';
import { type PostgresAddress, parsePostgresUrl } from './connection-url.ts';
import { type Backend, transactionsOf } from './pooler.ts';

/** Limit of one attempt to connect, milliseconds: where there are other hosts, a dead one must not cost much. */
const CONNECT_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_WITH_OTHERS_MS = 1500;

/** Time after which the other hosts are asked, and asked again, while a host does not answer, milliseconds. */
const ASK_OTHERS_MS = 250;

/** SQLSTATE of a write on a server that takes none. */
const READ_ONLY = '25006';

/** SQLSTATE of a server or pooler that refuses parameters of the connection. */
const PROTOCOL_VIOLATION = '08P01';

/** SQLSTATE of a server that is alive and has no connection left. */
const TOO_MANY_CONNECTIONS = '53300';

/** SQLSTATEs of named statements that another server process has, or has not. */
const OTHER_PROCESS = new Set(['42P05', '26000']);

const load = createRequire(import.meta.url);

/** Loads the library with the first pool: it is a third of what a thread without PostgreSQL would load of the runtime. */
export function library(): typeof pg {
  return load('pg');
}

/** The host that connections of this process to one database use. Pools with the same URL share it. */
class Route {
  readonly address: PostgresAddress;
  #tls: pg.ClientConfig['ssl'];
  /** Index of the host that is tried next. */
  at = 0;
  /** Index of the host that was found last, until it fails. */
  #found: number | undefined;
  /** Failures so far, after which another attempt makes sense. */
  changes = 0;
  /** True behind a pooler of transactions. */
  hasPooler = false;

  constructor(url: string) {
    try {
      this.address = parsePostgresUrl(url);
      this.#tls = tlsOf(this.address);
    } catch (error) {
      throw new Fatal('store.postgres-options', `The URL of the database ${describeFailure(error).message}.`);
    }
  }

  /** Read for each connection: certificates are replaced while the program runs. */
  get tls(): pg.ClientConfig['ssl'] {
    try {
      this.#tls = tlsOf(this.address);
    } catch {
      // A file is being replaced; the earlier one may do.
    }
    return this.#tls;
  }

  get host(): PostgresAddress['hosts'][number] {
    return this.address.hosts[this.at] ?? { host: 'localhost', port: 5432 };
  }

  get hasOtherHosts(): boolean {
    return this.address.hosts.length > 1;
  }

  /** Records a failure of the host with index `at`. Its connections can be used on while it is alive. */
  leave(at: number, isAlive = false): void {
    if (!this.hasOtherHosts) return;
    this.changes += 1;
    if (this.at === at) this.at = (at + 1) % this.address.hosts.length;
    if (this.#found === at && !isAlive) this.#found = undefined;
  }

  /** Ends of the attempts at hosts that have been left meanwhile. */
  readonly slow = new Set<() => void>();
  /** Indexes of hosts that are being asked. */
  readonly #asked = new Set<number>();

  /**
   * Asks the hosts besides the one with index `at` whether they take writes, each once at a time, and leaves that one for
   * the first that says so.
   */
  askOthers(at: number, takesWrites: (host: PostgresAddress['hosts'][number]) => Promise<boolean>): void {
    for (const [index, host] of this.address.hosts.entries()) {
      if (index === at || this.#asked.has(index)) continue;
      this.#asked.add(index);
      void takesWrites(host).then((does) => {
        this.#asked.delete(index);
        // The first one that takes writes counts.
        if (!does || ![undefined, at].includes(this.#found)) return;
        this.changes += 1;
        this.at = index;
        this.#found = index;
        for (const tell of this.slow) tell();
      });
    }
  }

  /** Records that the host with index `at` takes writes, unless another one was tried since. */
  find(at: number): void {
    if (this.at === at) this.#found = at;
  }

  /** True for a connection to another host: it may be dead, or lead to a server of the past. */
  hasLeft(at: number): boolean {
    return at !== (this.#found ?? this.at);
  }

  findPooler(): void {
    this.changes += 1;
    this.hasPooler = true;
  }
}

const ROUTES = new Map<string, Route>();

function routeOf(url: string): Route {
  const known = ROUTES.get(url) ?? new Route(url);
  ROUTES.set(url, known);
  return known;
}

/** Facts about a connection. */
interface Place {
  readonly route: Route;
  readonly at: number;
  /** Behind a pooler: the server process of the transaction in progress. */
  readonly backend: Backend | undefined;
}

const PLACES = new WeakMap<object, Place>();

/** The server process of the transaction in progress, where a pooler gives each transaction another one. */
export function backendOfTransaction(client: pg.PoolClient): Backend | undefined {
  return PLACES.get(client)?.backend;
}

/** Records an error of a statement. True if its connection can be used again. */
export function isUsableAfter(error: unknown, client: pg.PoolClient): boolean {
  const { code = '', severity } = error as { readonly code?: string; readonly severity?: string };
  const place = PLACES.get(client);
  if (code === READ_ONLY) place?.route.leave(place.at);
  else if (OTHER_PROCESS.has(code)) place?.route.findPooler();
  else return severity === 'ERROR';
  return false;
}

export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  readonly schema: string;
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number | undefined;
  /** Parameters of the connection that concern neither address nor schema. */
  readonly client: pg.ClientConfig;
  /** Settings of the session, as options of the server. */
  readonly settings: string;
}

/** Opens a pool; it connects when it is first used. Throws `store.postgres-options`. */
export function openPoolOver(options: PoolOptions): pg.Pool {
  const { size, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const route = routeOf(options.url);
  const { hosts, connectTimeoutMs: perHost = 0 } = route.address;
  const { Pool } = library();
  class PoolOverHosts extends Pool {
    override connect(): Promise<pg.PoolClient>;
    override connect(
      callback: (error: Error | undefined, client: pg.PoolClient | undefined, done: () => void) => void,
    ): void;
    override connect(
      callback?: (error: Error | undefined, client: pg.PoolClient | undefined, done: () => void) => void,
    ): Promise<pg.PoolClient> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      connected.then(
        (client) => callback(undefined, client, client.release),
        (error) => callback(error, undefined, () => {}),
      );
      return undefined;
    }

    async #connect(): Promise<pg.PoolClient> {
      const failures: string[] = [];
      for (;;) {
        const { changes } = route;
        try {
          const client = await super.connect();
          const place = PLACES.get(client);
          if (place === undefined || !route.hasLeft(place.at)) return client;
          client.release(true);
        } catch (error) {
          const { message } = describeFailure(error);
          failures.push(message);
          if (route.changes === changes) throw error;
          if (failures.length > hosts.length + 1)
            throw new Error([...new Set(failures)].join('; '), { cause: error });
        }
      }
    }
  }
  return new PoolOverHosts({
    max: size,
    // Limits also the wait for a connection of the pool.
    connectionTimeoutMillis: Math.max(connectTimeoutMs, perHost),
    // Longer than the pauses of an idle node, which would connect anew for each statement.
    idleTimeoutMillis: 30_000,
    Client: clientClass(route, options),
    verify: (client, done) => {
      verify(client, options.schema, timeoutPerHost(route, options)).then(() => done(), done);
    },
  });
}

/** Limit of one attempt to connect, and of the first answer afterwards, milliseconds. */
function timeoutPerHost({ hasOtherHosts, address }: Route, { connectTimeoutMs }: PoolOptions): number {
  const usual = hasOtherHosts ? CONNECT_TIMEOUT_WITH_OTHERS_MS : CONNECT_TIMEOUT_MS;
  return Math.min(connectTimeoutMs ?? Number.POSITIVE_INFINITY, address.connectTimeoutMs ?? usual);
}

function clientClass(route: Route, options: PoolOptions) {
  const { Client } = library();
  const { parameters } = route.address;
  const timeout = timeoutPerHost(route, options);
  const { schema, statementTimeoutMs } = options;
  const search = `-c search_path=${schema}`;
  return class extends Client {
    readonly #at = route.at;
    readonly #socket: Socket;

    constructor() {
      const socket = new Socket();
      super({
        ...parameters,
        ...options.client,
        ...placeOf(route, route.host, socket),
        connectionTimeoutMillis: timeout,
        ...(!route.hasPooler && {
          statement_timeout: statementTimeoutMs,
          options: [parameters['options'], options.settings, search].filter(Boolean).join(' '),
        }),
      });
      this.#socket = socket;
      // The pool listens to idle connections only. An error of any other, between two statements or right after the
      // connection is open, would end the process (https://github.com/brianc/node-postgres/issues/2439); the next
      // statement fails.
      this.on('error', () => {});
      const pooler = route.hasPooler
        ? transactionsOf(this.query.bind(this), [
            `search_path = ${schema}`,
            `statement_timeout = ${statementTimeoutMs}`,
            'jit = off',
          ])
        : undefined;
      if (pooler) this.query = pooler.query;
      PLACES.set(this, { route, at: this.#at, backend: pooler?.backend });
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
    override connect(
      callback?: (error: Error & null, client: pg.Client) => void,
    ): Promise<pg.Client> | undefined {
      const stopAsking = route.hasOtherHosts ? this.#askOthers() : () => {};
      const connected = super
        .connect()
        .finally(stopAsking)
        .catch((error) => {
          const { code, message } = describeFailure(error);
          if (code === PROTOCOL_VIOLATION && /startup parameter/.test(message) && !route.hasPooler)
            route.findPooler();
          else route.leave(this.#at, code === TOO_MANY_CONNECTIONS);
          throw error;
        });
      if (callback === undefined) return connected;
      const done = callback as (error?: Error | null) => void;
      connected.then(() => done(null), done);
      return undefined;
    }

    /** Asks the other hosts while this one does not answer, and gives this one up when another takes writes. */
    #askOthers(): () => void {
      const leave = () => {
        if (route.hasLeft(this.#at)) this.#socket.destroy(new Error('another host takes writes'));
      };
      let cancel = () => {};
      const arm = () => {
        cancel = systemClock.after(ASK_OTHERS_MS, () => {
          route.askOthers(this.#at, (host) => takesWrites(route, host, timeout));
          arm();
        });
      };
      arm();
      route.slow.add(leave);
      return () => {
        cancel();
        route.slow.delete(leave);
      };
    }
  };
}

/** Settings of a connection to a host, besides the parameters of the URL. */
function placeOf(route: Route, { host, port }: PostgresAddress['hosts'][number], socket: Socket) {
  const { user, password, database } = route.address;
  const { tls } = route;
  return {
    host,
    port,
    database,
    stream: () => socket,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { ssl: host.startsWith('/') ? false : tls }),
  } satisfies pg.ClientConfig;
}

/** Never rejects. Its socket is closed after `timeout` milliseconds at the latest. */
async function takesWrites(
  route: Route,
  host: PostgresAddress['hosts'][number],
  timeout: number,
): Promise<boolean> {
  const socket = new Socket();
  socket.once(
    'close',
    systemClock.after(timeout, () => socket.destroy(new Error('no answer'))),
  );
  const { Client } = library();
  const client = new Client({ ...placeOf(route, host, socket), application_name: 'sealwright' });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ does: boolean }>(
      "SELECT NOT (pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean) AS does",
    );
    return rows[0]?.does === true;
  } catch {
    return false;
  } finally {
    client.end().catch(() => {});
  }
}

/** Refuses a server that takes no writes, and a pooler that drops the parameters of connections. */
async function verify(client: pg.PoolClient, schema: string, timeout: number): Promise<void> {
  const place = PLACES.get(client);
  const answer = client.query<{ is_standby: boolean; is_read_only: boolean; path: string }>({
    text: `SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only')::boolean AS is_read_only,
      current_setting('search_path') AS path`,
    query_timeout: timeout,
  });
  const { rows } = await answer.catch((error) => {
    place?.route.leave(place.at);
    throw error;
  });
  const [found] = rows;
  if (place === undefined || found === undefined) return;
  const { route, at } = place;
  if (found.is_standby || (found.is_read_only && route.hasOtherHosts)) {
    route.leave(at);
    const { host, port } = route.address.hosts[at] ?? route.host;
    const what = found.is_standby ? 'a standby' : 'read-only (default_transaction_read_only)';
    throw new Error(`the server at ${host}:${port} is ${what}, which takes no writes`);
  }
  if (found.path === schema || route.hasPooler) {
    route.find(at);
    return;
  }
  route.findPooler();
  throw new Error('a pooler drops the parameters of connections');
}

function tlsOf({ tls, files }: PostgresAddress): pg.ClientConfig['ssl'] {
  if (tls === undefined) return undefined;
  if (tls === 'disable') return false;
  const { ca, cert, key } = files;
  const read = (name: string, path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new Error(`names the file "${path}" as ${name}: ${describeFailure(error).message}`);
    }
  };
  return {
    rejectUnauthorized: tls !== 'no-verify',
    ...(tls === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...(ca !== undefined && ca !== 'system' && { ca: read('sslrootcert', ca) }),
    ...(cert !== undefined && { cert: read('sslcert', cert) }),
    ...(key !== undefined && { key: read('sslkey', key) }),
  };
}
