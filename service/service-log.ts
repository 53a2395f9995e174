/** The log of a service as it is configured. Source: batch-gaps §12. */
import { createFileSink, createLogging, type LineSink, type Logging } from '../logging.ts';
import type { Clock } from '../runtime/index.ts';
import type { Settings } from '../settings.ts';

/**
 * Nothing is touched before the first line. When files cannot be written the service goes on: that is said once on
 * the console, or on standard error where the log is kept off the console, and once again when they can.
 * @param parts.err writes to standard error
 */
export function openLogging(
  { logging, secrets }: Pick<Settings, 'logging' | 'secrets'>,
  parts: { readonly clock: Clock; readonly console: LineSink; readonly err: (text: string) => void },
): Logging {
  const { file, logLevel } = logging;
  const onTrouble = (why: string | undefined) => {
    if (why === undefined) {
      log.info('Log files can be written again.');
      return;
    }
    const text = 'Log files cannot be written; this is tried again until it works.';
    log.warn(text, { Path: file.path, Because: why });
    if (!file.writeToConsole) parts.err(`sealwright: ${text} (${file.path}: ${why})\n`);
  };
  const log = createLogging({
    clock: parts.clock,
    level: logLevel.default,
    secrets,
    sinks: [
      ...(file.writeToConsole ? [parts.console] : []),
      ...(file.enabled
        ? [
            createFileSink({
              path: file.path,
              interval: file.rollingInterval,
              sizeLimit: file.fileSizeLimitBytes,
              retained: file.retainedFileCountLimit,
              least: file.minimumLevel,
              clock: parts.clock,
              onTrouble,
            }),
          ]
        : []),
    ],
  });
  return log;
}
