/** Creates the configured log of a service. Source: docs/batch-values.md §12. */

import type { Clock } from '@sealwright/runtime';
import { createFileSink, createLogging, type LineSink, type Logging } from '../logging.ts';
import type { Settings } from '../settings.ts';

/**
 * Files are opened with the first line. When they cannot be written the service continues: that is reported once on
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
              ...(file.retainedDays > 0 && { maxAge: file.retainedDays * 86_400_000 }),
              least: file.minimumLevel,
              clock: parts.clock,
              onFailure: onTrouble,
            }),
          ]
        : []),
    ],
  });
  return log;
}
