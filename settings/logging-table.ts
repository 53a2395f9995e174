/** `Logging:*`: levels and destinations of the log. Source: docs/batch-values.md §12. */
import { basename, join, relative, sep } from 'node:path';
import type { Fault, Warning } from './findings.ts';
import { computed, key } from './keys.ts';
import { choice, dataPath, flag, whole } from './kinds.ts';

const LEVELS = ['Verbose', 'Debug', 'Information', 'Warning', 'Error', 'Fatal'] as const;

export const LOGGING_KEYS = {
  'Logging:LogLevel:Default': key(choice(LEVELS), 'Information', {
    says: 'Minimum level of lines that are written.',
  }),
  'Logging:File:Enabled': key(flag(), true, {
    says: 'Write the log to files. At least one of this and `Logging:File:WriteToConsole` is on.',
  }),
  'Logging:File:Path': computed(
    dataPath(),
    '`data/logs/batch-.log`',
    ({ root }) => join(root, 'logs', 'batch-.log'),
    {
      says: 'Where log files are; the date goes before the extension: `batch-20260526.log`. A path that begins with `data/` is below `Storage:Root`.',
    },
  ),
  'Logging:File:RollingInterval': key(choice(['Day', 'Hour', 'Minute', 'Infinite']), 'Day', {
    says: 'Interval at which a new file begins, in UTC.',
  }),
  'Logging:File:FileSizeLimitBytes': key(whole(65_536, 10_737_418_240), 50_000_000, {
    unit: 'bytes',
    says: 'Maximum size of a file; then `_001` and so on follow.',
  }),
  'Logging:File:RetainedFileCountLimit': key(whole(1, 365), 14, {
    unit: 'files',
    says: 'Log files kept; the oldest are removed.',
  }),
  'Logging:File:RetainedDays': key(whole(0, 3650), 0, {
    unit: 'days',
    says: 'Log files last written longer ago are removed when a new one begins. 0: files are limited by their number only.',
  }),
  'Logging:File:MinimumLevel': key(choice(LEVELS), 'Information', {
    says: 'Minimum level of lines in files, in addition to `Logging:LogLevel:Default`.',
  }),
  'Logging:File:WriteToConsole': key(flag(), true, {
    says: 'Write the log to standard output, with the same redaction.',
  }),
} as const;

interface LoggingSettings {
  readonly logging: {
    readonly file: { readonly enabled: boolean; readonly path: string; readonly writeToConsole: boolean };
  };
  readonly storage: { readonly inputs: readonly { readonly path: string }[] };
}

export function checkLogging(
  { logging, storage }: LoggingSettings,
  faults: Fault[],
  warnings: Warning[],
): void {
  const { enabled, path, writeToConsole } = logging.file;
  if (!enabled && !writeToConsole) {
    faults.push({
      key: 'Logging:File:Enabled',
      rule: 'is false, and so is Logging:File:WriteToConsole; at least one of them must be true',
    });
  }
  if (!enabled) return;
  if (/\d$/.test(basename(path).replace(/\.[^.]*$/, ''))) {
    warnings.push({
      key: 'Logging:File:Path',
      text: 'ends in a digit before its extension, so the date is hard to read in names of log files',
    });
  }
  // An input folder around the root is refused already.
  if (faults.some(({ key: other }) => other.startsWith('Storage:Inputs'))) return;
  const watched = storage.inputs.some(
    (input) => input.path !== '' && relative(input.path, path).split(sep)[0] !== '..',
  );
  if (watched) {
    faults.push({
      key: 'Logging:File:Path',
      rule: 'is in an input folder, where log files would be processed as input. Choose a folder outside of all inputs',
    });
  }
}
