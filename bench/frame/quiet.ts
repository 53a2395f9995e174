/** A runtime with the time of the machine and without log lines. */
import { type Log, systemClock, systemIds } from '@sealwright/runtime';
import { type BuiltRuntime, buildRuntime } from '#runtime/runtime.js';

const quiet = (): void => {};
export const QUIET: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

type RuntimeOptions = Parameters<typeof buildRuntime>[0];

export function quietRuntime(
  given: Pick<RuntimeOptions, 'store' | 'definitions'> &
    Partial<Pick<RuntimeOptions, 'clock' | 'handlers' | 'shards'>>,
): BuiltRuntime {
  return buildRuntime({ clock: systemClock, ids: systemIds, log: QUIET, handlers: {}, ...given });
}
