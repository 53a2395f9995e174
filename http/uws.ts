/**
 * The one place that knows uWebSockets.js: which binary fits this Node, and the part of its interface used here.
 *
 * Two releases are installed side by side, because neither has a binary for every Node this program supports:
 * `uws-node22` (20.69: Node 22, 24 and 26, glibc 2.38 or newer) and `uws-node20` (20.51: Node 18 to 23, glibc
 * 2.31 or newer). The newest that loads is taken.
 */
import { createRequire } from 'node:module';

/** Text or bytes the native side takes as they are. */
export type Octets = string | ArrayBuffer | Uint8Array;

/** A response under way. Touching it after it has ended or was aborted ends the process: see `exchange.ts`. */
export interface UwsResponse {
  writeStatus(status: Octets): UwsResponse;
  writeHeader(name: Octets, value: Octets): UwsResponse;
  end(body?: Octets, closeConnection?: boolean): UwsResponse;
  endWithoutBody(): UwsResponse;
  /** Sends as much as the socket takes: `[all of it was taken, the response is complete]`. */
  tryEnd(chunk: Octets, totalSize: number): [boolean, boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  /** The chunk is emptied when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  /** Stops reading the body, and the ten-second timer with it. Chunks already read still arrive. */
  pause(): void;
  /** Reads on, and starts the ten-second timer again. */
  resume(): void;
  cork(write: () => void): UwsResponse;
  /** Drops the connection; the abort handler runs. */
  close(): UwsResponse;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** A request; readable only until the route handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  /** What stands behind `?`; undefined when there is none. */
  getQuery(): string | undefined;
  /** The first header of this (lower-case) name, or the empty string. */
  getHeader(lowerCaseName: string): string;
  /** Every header in the order it came, names in lower case; a name may come more than once. */
  forEach(tell: (name: string, value: string) => void): void;
}

export interface UwsListenSocket {
  readonly brand?: never;
}

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  listen(
    host: string,
    port: number,
    options: number,
    listening: (socket: UwsListenSocket | false) => void,
  ): UwsApp;
  /** Closes the listening socket and drops every connection. */
  close(): UwsApp;
}

export interface Uws {
  App(options?: Record<string, never>): UwsApp;
  SSLApp(options: { readonly key_file_name: string; readonly cert_file_name: string }): UwsApp;
  us_listen_socket_close(socket: UwsListenSocket): void;
  us_socket_local_port(socket: UwsListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(option: string): void;
}

/** Newest first. */
const RELEASES = ['uws-node22', 'uws-node20'] as const;

/** Most bytes of a request's head; the library's own 4096 is little behind proxies that add headers. */
const MAX_HEAD_BYTES = 16 * 1024;

let loaded: Uws | undefined;

/**
 * The newest uWebSockets.js that runs under this Node.
 * Throws an error with code `uws.unavailable` that says what to do when none does.
 */
export function loadUws(): Uws {
  if (loaded !== undefined) return loaded;
  // Read by the library once, while it loads.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(MAX_HEAD_BYTES);
  const require = createRequire(import.meta.url);
  const failures: string[] = [];
  for (const name of RELEASES) {
    try {
      const library = require(name) as Uws;
      // Otherwise every response names the library and its version.
      library._cfg('silent');
      loaded = library;
      return library;
    } catch (error) {
      failures.push(`${name}: ${lastLine(error)}`);
    }
  }
  throw Object.assign(new Error(advice(failures)), { code: 'uws.unavailable' });
}

function advice(failures: readonly string[]): string {
  return [
    `No uWebSockets binary runs under Node ${process.versions.node} on ${process.platform} ${process.arch}.`,
    'If node_modules was installed by another Node version, run "npm ci" again with this one.',
    'Node 20 to 23 need glibc 2.31, Node 24 and 26 need glibc 2.38; other C libraries are not supported.',
    ...failures,
  ].join('\n');
}

function lastLine(error: unknown): string {
  const lines = String(error instanceof Error ? error.message : error)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('- '));
  return lines.at(-1) ?? 'unknown failure';
}
