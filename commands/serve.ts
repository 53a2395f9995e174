/**
 * `sealwright serve`: from settings to a running service, and from a signal to a clean end.
 *
 * Source: docs/operations.md; docs/batch-values.md §7 and §13 (exit codes).
 */
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Log } from '@sealwright/runtime';
import { type Clock, describeFailure, systemIds } from '@sealwright/runtime/core';
import { storageLayout } from '../actors/shared/files/storage-layout.ts';
import type { Logging } from '../logging.ts';
import { openKeyFolder } from '../service/key-folder.ts';
import type { RunningService, Serve, ServiceInfo, StartOptions } from '../service/running-service.ts';
import { placeOfInput, type Settings, type Warning, warningLine } from '../settings.ts';
import { type BannerInfo, banner, browserUrl } from './banner.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { programFile, type Terminal } from './terminal.ts';

/** Time beyond the shutdown timeout after which the process ends anyway, milliseconds. */
const STOP_GRACE_MS = 10_000;
/**
 * A second signal counts only after this long, milliseconds: one Ctrl-C under npm arrives twice, once from the
 * terminal and once from npm.
 */
const REPEATED_SIGNAL_MS = 1000;

/**
 * Starts, prints the banner, and resolves with the exit code once a SIGTERM or SIGINT has been served, or once the
 * service cannot go on. A second signal, a second later, ends the process at once.
 */
export async function runService(parts: {
  readonly serve: Serve;
  readonly settings: Settings;
  readonly warnings: readonly Warning[];
  readonly log: Logging;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly options: StartOptions;
  /** Notified when the service is ready, and when it begins to stop. @default none */
  readonly notify?: (news: ServiceNotification) => void;
}): Promise<ExitCode> {
  const { settings, log, terminal, clock } = parts;
  const signals = listenForSignals(log, clock);
  endOnUncaught(log, terminal);
  for (const warning of parts.warnings) log.warn(warningLine(warning));

  let service: RunningService;
  try {
    service = await parts.serve(settings, log, parts.options);
  } catch (error) {
    const { code, message } = describeFailure(error);
    const exit = exitCodeOf(error);
    log.fatal('The service could not start', {
      code,
      error: message,
      stack: exit === EXIT.failed && error instanceof Error ? error.stack : undefined,
    });
    await log.flush();
    const hint = code === 'listen.failed' ? await otherPorts(settings) : '';
    terminal.err(`sealwright could not start: ${message}${hint}\n`);
    return exit;
  }

  for (const warning of service.facts.warnings) log.warn(warning);
  const shown = { ...bannerInfo(parts, service.facts), logins: await loginsOf(service, parts) };
  terminal.out(banner(shown, { colors: terminal.colors }));
  log.info('Ready', {
    url: service.facts.batchUrl,
    portal: service.facts.portal?.url,
    environment: settings.environment,
    version: parts.options.version,
  });
  parts.notify?.('READY=1');

  const end = await Promise.race([
    signals.first.then((signal) => ({ signal })),
    service.draining.then(() => ({ signal: 'drain' })),
    service.lost.then((why) => ({ why })),
  ]);
  if ('why' in end) {
    log.fatal('The service cannot go on; the next start recovers', { error: end.why });
    await log.flush();
    terminal.err(`sealwright cannot go on: ${end.why}\n`);
    return EXIT.failed;
  }
  const { signal } = end;
  parts.notify?.('STOPPING=1');
  log.info('Stopping', { signal, waitSeconds: settings.hosting.shutdownTimeoutSeconds });
  const limit = settings.hosting.shutdownTimeoutSeconds * 1000 + STOP_GRACE_MS;
  const outcome = await Promise.race([
    service.stop().then(() => 'stopped' as const),
    new Promise<'late'>((resolve) => clock.after(limit, () => resolve('late'))),
  ]).catch((error: unknown) => describeFailure(error));
  if (outcome === 'stopped') log.info('Stopped');
  else {
    const why = outcome === 'late' ? 'it did not stop in time' : outcome.message;
    log.fatal('The service did not stop cleanly; the next start recovers', { error: why });
  }
  await log.flush();
  return outcome === 'stopped' ? EXIT.good : EXIT.failed;
}

/** Name of the file with the login link, in the folder of the keys. */
const LOGIN_FILE = 'login-link';

/** Makes the login links. They must not be in a log: without a terminal, a private file has that of the operator pages. */
async function loginsOf(
  service: RunningService,
  { settings, log, terminal }: Pick<Parameters<typeof runService>[0], 'settings' | 'log' | 'terminal'>,
): Promise<BannerInfo['logins']> {
  const operator = service.loginLink();
  if (terminal.interactive !== true) {
    if (operator === undefined) return undefined;
    const { keys } = storageLayout(settings.storage.root);
    try {
      openKeyFolder(keys, systemIds).replace(LOGIN_FILE, browserUrl(operator));
    } catch (error) {
      // The API key logs in too.
      log.warn('The login link could not be stored', { error: describeFailure(error).message });
      return undefined;
    }
    return { path: join(keys, LOGIN_FILE) };
  }
  const administrator = await service.administratorLink();
  const links: [string, string][] = [];
  if (operator !== undefined) links.push(['One-time login', operator]);
  if (administrator !== undefined) links.push(['Administrator login', administrator]);
  return { links };
}

function bannerInfo(
  parts: { readonly settings: Settings; readonly options: StartOptions; readonly terminal: Terminal },
  facts: ServiceInfo,
): BannerInfo {
  const { settings, options, terminal } = parts;
  return {
    ...(settings.production && !terminal.interactive ? withoutKeys(facts) : facts),
    version: options.version,
    environment: settings.environment,
    cwd: process.cwd(),
    root: settings.storage.root,
    inputs: settings.storage.inputs.map((input) => ({
      name: input.name,
      path: placeOfInput(input),
      isFolder: input.kind === 'FileSystem',
    })),
    apiKeyHeader: settings.auth.apiKeyHeader,
    encryption: settings.encryption.enabled,
    maxConcurrency: settings.pipeline.maxConcurrency,
    pollIntervalSeconds: settings.pipeline.pollIntervalSeconds,
    program: programFile(),
  };
}

/** In production, standard output without a terminal is a log, which must not contain keys; their files are named. */
function withoutKeys(facts: ServiceInfo): ServiceInfo {
  const { apiKey, portal } = facts;
  return {
    ...facts,
    apiKey: apiKey.from === 'file' ? { ...apiKey, made: undefined } : apiKey,
    portal: portal && {
      ...portal,
      keys: portal.keys.map((key) => ({ ...key, secret: key.secret && { ...key.secret, made: undefined } })),
    },
  };
}

function listenForSignals(log: Logging, clock: Clock): { readonly first: Promise<NodeJS.Signals> } {
  let stoppingSince: number | undefined;
  const first = new Promise<NodeJS.Signals>((resolve) => {
    const take = (signal: NodeJS.Signals) => {
      if (stoppingSince === undefined) {
        stoppingSince = clock.elapsed();
        resolve(signal);
      } else if (clock.elapsed() - stoppingSince >= REPEATED_SIGNAL_MS) {
        log.fatal('Ended at once by a second signal; the next start recovers', { signal });
        log.flushSync();
        process.exit(EXIT.failed);
      }
    };
    process.on('SIGTERM', take);
    process.on('SIGINT', take);
  });
  return { first };
}

/**
 * State is safe in the store; a process in an unknown condition is better replaced than trusted. Standard error reports the
 * failure too, for services without a log, but not its message: only the log redacts secrets.
 */
function endOnUncaught(log: Logging, terminal: Terminal): void {
  const end = (what: string) => (error: unknown) => {
    const { code, message } = describeFailure(error);
    log.fatal(what, { code, error: message, stack: error instanceof Error ? error.stack : undefined });
    log.flushSync();
    terminal.err(`sealwright cannot go on: ${what} (${code}); the log says more\n`);
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', end('Uncaught exception'));
  process.on('unhandledRejection', end('Unhandled rejection'));
}

type ServiceNotification = 'READY=1' | 'STOPPING=1';

/**
 * Notifies systemd of the state of the service (sd_notify(3)). Node cannot send datagrams on Unix sockets
 * (https://github.com/nodejs/node/issues/29339), so the program `systemd-notify` sends them. Does nothing without NOTIFY_SOCKET.
 *
 * Source: docs/batch-values.md §13: ready only after the banner.
 * @param env `NOTIFY_SOCKET` and `PATH` are read
 */
export function serviceManager(
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<Log, 'warn'>,
): (news: ServiceNotification) => void {
  const { NOTIFY_SOCKET: socket, PATH: path = '' } = env;
  if (socket === undefined || socket === '') return () => {};
  return (news) => {
    execFile('systemd-notify', [news], { env: { NOTIFY_SOCKET: socket, PATH: path } }, (error) => {
      if (error)
        log.warn('The state of the service could not be reported to systemd.', {
          News: news,
          Reason: error.code ?? error.message,
        });
    });
  };
}

/** Ports that are tried above a taken one. */
const MAX_PROBES = 50;

/** Lines for a start whose ports are taken: the command that starts the service on ports that are free now; the reason alone when there is none. */
async function otherPorts({ batch, portal }: Settings): Promise<string> {
  const options: string[] = [];
  const chosen = new Set<number>();
  for (const [key, { enabled, url }] of Object.entries({ 'Batch:Url': batch, 'Portal:Url': portal })) {
    if (!enabled || (await isFree(url.host, url.port))) continue;
    const port = await freePort(url.host, url.port, chosen);
    if (port === undefined) continue;
    chosen.add(port);
    const address = new URL(url.href);
    address.port = String(port);
    options.push(`--${key}=${address.origin}`);
  }
  if (options.length === 0) return ' Batch:Url and Portal:Url say where the service listens.';
  return `\nThis command starts it on other ports:\n\n    ${startCommand()} ${options.join(' ')}\n`;
}

/** The command line that leads to this process. */
function startCommand(): string {
  if (process.env['npm_lifecycle_event'] === 'start') return 'npm start --';
  return `node ${programFile()} serve`;
}

async function freePort(host: string, taken: number, not: ReadonlySet<number>): Promise<number | undefined> {
  for (let port = taken + 1; port <= Math.min(taken + MAX_PROBES, 65_535); port += 1) {
    if (!not.has(port) && (await isFree(host, port))) return port;
  }
  return undefined;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
