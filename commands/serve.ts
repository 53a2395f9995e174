/**
 * `sealwright serve`: from settings to a running service, and from a signal to a clean end.
 *
 * Source: running.md, "Commands" and "First start"; batch-gaps §7 ("Planned stop") and §13 (exit codes).
 */
import type { Logging } from '../logging.ts';
import { type Clock, describeFailure } from '../runtime/index.ts';
import type { RunningService, Serve, ServiceFacts, StartOptions } from '../service/running-service.ts';
import { type Settings, type Warning, warningLine } from '../settings.ts';
import { type BannerFacts, banner } from './banner.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { ServiceNews } from './service-manager.ts';
import type { Terminal } from './terminal.ts';

/** A stop that takes this much longer than the shutdown timeout is given up, milliseconds. */
const STOP_GRACE = 10_000;
/**
 * A second signal counts only after this long, milliseconds: one Ctrl-C under npm arrives twice, once from the
 * terminal and once from npm.
 */
const ONE_KEYPRESS = 1000;

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
  /** Told when the service is ready, and when it begins to stop. @default nobody */
  readonly notify?: (news: ServiceNews) => void;
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
    const hint = code.startsWith('listen.') ? ' Batch:Url and Portal:Url say where the service listens.' : '';
    terminal.err(`sealwright could not start: ${message}${hint}\n`);
    return exit;
  }

  for (const warning of service.facts.warnings) log.warn(warning);
  terminal.out(banner(bannerFacts(parts, service.facts), { colors: terminal.colors }));
  log.info('Ready', {
    url: service.facts.batchUrl,
    portal: service.facts.portal?.url,
    environment: settings.environment,
    version: parts.options.version,
  });
  parts.notify?.('READY=1');

  const end = await Promise.race([
    signals.first.then((signal) => ({ signal })),
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
  const limit = settings.hosting.shutdownTimeoutSeconds * 1000 + STOP_GRACE;
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

function bannerFacts(
  parts: { readonly settings: Settings; readonly options: StartOptions },
  facts: ServiceFacts,
): BannerFacts {
  const { settings, options } = parts;
  return {
    ...facts,
    version: options.version,
    environment: settings.environment,
    cwd: process.cwd(),
    inputs: settings.storage.inputs,
    apiKeyHeader: settings.auth.apiKeyHeader,
    encryption: settings.encryption.enabled,
    maxConcurrency: settings.pipeline.maxConcurrency,
    pollIntervalSeconds: settings.pipeline.pollIntervalSeconds,
  };
}

function listenForSignals(log: Logging, clock: Clock): { readonly first: Promise<NodeJS.Signals> } {
  let stoppingSince: number | undefined;
  const first = new Promise<NodeJS.Signals>((resolve) => {
    const take = (signal: NodeJS.Signals) => {
      if (stoppingSince === undefined) {
        stoppingSince = clock.elapsed();
        resolve(signal);
      } else if (clock.elapsed() - stoppingSince >= ONE_KEYPRESS) {
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
 * State is safe in the store; a process in an unknown condition is better replaced than trusted. Standard error is told too,
 * for those who keep no log: that there was a failure, not its words, from which only the log keeps secrets.
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
