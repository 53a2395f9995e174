/**
 * Loads uWebSockets.js and opens ports with it. Its requests and responses have the shape of `port.ts`.
 *
 * Two releases are installed, because neither has a binary for every supported Node: `uws-node22` (20.69: Node 22, 24
 * and 26, glibc 2.38 or newer) and `uws-node20` (20.51: Node 18 to 23, glibc 2.31 or newer). The newest that loads is
 * used. Upstream: https://github.com/uNetworking/uWebSockets.js/issues/1176
 */
import { createRequire } from 'node:module';
import { MAX_HEAD_BYTES } from './head-limit.ts';
import type { OpenListener, RequestHandler } from './port.ts';

interface UwsListenSocket {
  readonly brand?: never;
}

interface UwsApp {
  any(pattern: string, handler: RequestHandler): UwsApp;
  listen(
    host: string,
    port: number,
    options: number,
    listening: (socket: UwsListenSocket | false) => void,
  ): UwsApp;
  /** Closes the listening socket and drops every connection. */
  close(): UwsApp;
}

interface Uws {
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
 * Returns the newest uWebSockets.js that runs under this Node. Throws an error with code `uws.unavailable` when
 * none does.
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

/** Returns why uWebSockets does not load here; undefined when it does. */
export function unavailableUws(): string | undefined {
  try {
    loadUws();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Listeners with earlier certificates that go on serving their connections. */
const MAX_EARLIER = 1;

/** Opens a port with uWebSockets. Throws `uws.unavailable`. */
export const openUwsPort: OpenListener = async ({ host, port: wanted, tls }, handle) => {
  const uws = loadUws();
  const makeApp = () => {
    const app =
      tls === undefined
        ? uws.App()
        : uws.SSLApp({ key_file_name: tls.keyPath, cert_file_name: tls.certificatePath });
    return app.any('/*', handle);
  };
  /** The library calls back before it returns. */
  const listen = (app: UwsApp, port: number): UwsListenSocket | undefined => {
    let opened: UwsListenSocket | false = false;
    // Without this option two processes could share the port and split the connections.
    app.listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      opened = socket;
    });
    return opened || undefined;
  };
  const apps = [makeApp()];
  let socket = listen(apps[0] as UwsApp, wanted);
  if (socket === undefined) {
    apps[0]?.close();
    return undefined;
  }
  const port = uws.us_socket_local_port(socket);
  const stopAccepting = () => {
    if (socket !== undefined) uws.us_listen_socket_close(socket);
    socket = undefined;
  };
  if (wanted === 0 && tls) {
    // The library lets a port be opened beside its connections (SO_REUSEADDR) only where a port is named.
    stopAccepting();
    socket = listen(apps[0] as UwsApp, port);
  }
  return {
    port,
    renewTls: () => {
      // The library reads the files here, and only here.
      const renewed = makeApp();
      stopAccepting();
      socket = listen(renewed, port);
      if (socket === undefined) {
        renewed.close();
        socket = listen(apps.at(-1) as UwsApp, port);
        throw new Error(`Cannot listen on port ${port} again.`);
      }
      apps.push(renewed);
      if (apps.length > MAX_EARLIER + 1) apps.shift()?.close();
    },
    stopAccepting,
    close: () => {
      for (const app of apps) app.close();
    },
  };
};

function advice(failures: readonly string[]): string {
  const where = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  return `No uWebSockets binary loads under ${where} (${failures.join('; ')}).`;
}

function lastLine(error: unknown): string {
  const lines = String(error instanceof Error ? error.message : error)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('- '));
  return lines.at(-1) ?? 'unknown failure';
}
