/**
 * What `/system` shows of the program itself.
 *
 * Source: batch-gaps §10, "Operator pages" (`/system`).
 */
import type { Settings } from '../settings.ts';

/** Name and value of each fact, in the order in which people ask for them; never a secret. */
export function systemFacts(
  settings: Settings,
  program: { readonly version: string; readonly store: string; readonly node: string; readonly host: string },
): readonly (readonly [name: string, value: string])[] {
  const { profiles } = settings.signing;
  const levels = profiles.map(({ name, level }) => (profiles.length > 1 ? `${level} (${name})` : level));
  return [
    ['Version', program.version],
    ['Environment', settings.environment],
    ['Host', program.host],
    ['Node', program.node],
    ['Storage root', settings.storage.root],
    ['Store', program.store],
    ['Signature level', levels.length === 0 ? 'B' : levels.join(', ')],
    ['Encryption', settings.encryption.enabled ? 'on' : 'off'],
    ['Jobs at once', String(settings.pipeline.maxConcurrency)],
  ];
}

/** How the program is kept running, as far as it can tell. */
export function hostMode(env: { readonly [name: string]: string | undefined }): string {
  if (env['NOTIFY_SOCKET'] !== undefined || env['INVOCATION_ID'] !== undefined) return 'systemd';
  return env['container'] === undefined ? 'command line' : 'container';
}
