/**
 * Loads uWebSockets.js and types the part of its interface that this project uses.
 *
 * Two releases are installed, because neither has a binary for every supported Node: `uws-node22` (20.69: Node 22, 24
 * and 26, glibc 2.38 or newer) and `uws-node20` (20.51: Node 18 to 23, glibc 2.31 or newer). The newest that loads is
 * used. Upstream: https://github.com/uNetworking/uWebSockets.js/issues/1176
 */
import { createRequire } from 'node:module';
import { MAX_HEAD_BYTES } from './head-limit.ts';

/** Text or bytes that the native side accepts. */
export type Octets = string | ArrayBuffer | Uint8Array;

/** A response in progress. Touching it after it has ended or was aborted ends the process: see `uws-exchange.ts`. */
export interface UwsResponse {
  writeStatus(status: Octets): UwsResponse;
  writeHeader(name: Octets, value: Octets): UwsResponse;
  end(body?: Octets, closeConnection?: boolean): UwsResponse;
  endWithoutBody(): UwsResponse;
  /** Sends a chunk of a body of unknown length, or keeps it until the socket accepts it; false: it is kept. */
  write(chunk: Octets): boolean;
  /** Sends as much as the socket accepts: `[everything was accepted, the response is complete]`. */
  tryEnd(chunk: Octets, totalSize: number): [boolean, boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  /** The chunk is emptied when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  /** Stops reading the body and the ten-second timer. Chunks already read still arrive. */
  pause(): void;
  /** Resumes reading and restarts the ten-second timer. */
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
  /** The query string without `?`; undefined when absent. */
  getQuery(): string | undefined;
  /** The first header of this (lower-case) name, or the empty string. */
  getHeader(lowerCaseName: string): string;
  /** Every header in order, names in lower case; a name may occur more than once. */
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

let loaded: Uws | undefined;

/**
 * Returns the newest uWebSockets.js that runs under this Node. Throws an error with code `uws.unavailable` and a
 * remedy when none does.
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
