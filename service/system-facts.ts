/**
 * Information about the program for `/system`.
 *
 * Source: docs/batch-values.md §10 (`/system`).
 */
import type { Settings } from '../settings.ts';

/** Returns names and values in display order; never a secret. */
export function systemInfo(
  settings: Settings,
  program: { readonly version: string; readonly store: string; readonly node: string; readonly host: string },
): readonly (readonly [name: string, value: string])[] {
  const { profiles } = settings.signing;
  const levels = profiles.map(({ name, level = 'B' }) =>
    profiles.length > 1 ? `${level} (${name})` : level,
  );
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

/** Detects the service manager, if possible. */
export function hostMode(env: { readonly [name: string]: string | undefined }): string {
  if (env['NOTIFY_SOCKET'] !== undefined || env['INVOCATION_ID'] !== undefined) return 'systemd';
  return env['container'] === undefined ? 'command line' : 'container';
}
