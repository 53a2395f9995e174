/**
 * Keys that existing configuration files may hold and that this version does not read. They are distinguished from
 * typing errors. An entry ending in `:*` stands for everything below it; `#` stands for an index or a name.
 *
 * Source: docs/batch-values.md §§5, 6, 11 and 12; docs/configuration.md.
 */
export const UNUSED_KEYS = [
  'Backup:*',
  'Cluster:*',
  'Console:Dashboard:*',
  'LogViewer:*',
  'Signing:Certificate:WindowsStore:*',
  'Signing:Profiles:#:Certificate:WindowsStore:*',
  'Statistics:*',
  'Telemetry:*',
] as const;

/** True when the key is known but not read by this version. */
export function isUnusedKey(name: string): boolean {
  const given = name.toLowerCase().split(':');
  return UNUSED_KEYS.some((known) => {
    const parts = known.toLowerCase().split(':');
    const open = parts.at(-1) === '*';
    if (open) parts.pop();
    if (open ? given.length < parts.length : given.length !== parts.length) return false;
    return parts.every((part, index) => part === '#' || part === given[index]);
  });
}
