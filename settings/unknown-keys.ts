/**
 * Warnings about unknown keys; inside a signing profile they refuse the start, since the profile would sign otherwise than
 * it was meant to. Their values are never repeated: a misspelt name may hide a secret.
 */
import type { Fault, Warning } from './findings.ts';
import type { RawEntry } from './sources.ts';

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
  'Portal:MailFolderKeepDays',
  'Signing:Certificate:WindowsStore:*',
  'Signing:Profiles:#:Certificate:WindowsStore:*',
  'Statistics:*',
  'Telemetry:*',
  'WatchedFolder:IgnoredNames:*',
] as const;

/** True when the key is known but not read by this version. */
function isUnusedKey(name: string): boolean {
  const given = name.toLowerCase().split(':');
  return UNUSED_KEYS.some((known) => {
    const parts = known.toLowerCase().split(':');
    const open = parts.at(-1) === '*';
    if (open) parts.pop();
    if (open ? given.length < parts.length : given.length !== parts.length) return false;
    return parts.every((part, index) => part === '#' || part === given[index]);
  });
}

/** True when the name is the first part of any known key. */
export function isSectionOf(name: string, keys: readonly string[]): boolean {
  return sections(keys).some((section) => section.toLowerCase() === name.toLowerCase());
}

/**
 * @param entries configured keys that nothing has read
 * @param unknownVariables environment variables with double underscores outside every section
 * @param names every key this version reads, `#` standing for an index
 */
export function unknownKeys(
  entries: readonly RawEntry[],
  unknownVariables: readonly string[],
  names: readonly string[],
) {
  const faults: Fault[] = [];
  const warnings: Warning[] = [];
  for (const entry of entries.filter(({ text }) => text !== undefined)) {
    const rule = refusal(entry, names);
    if (rule !== undefined) faults.push({ key: entry.key, rule, found: `set in ${entry.origin}` });
    else warnings.push({ key: entry.key, text: unreadKeyWarning(entry, names) });
  }
  for (const variable of unknownVariables) {
    const section = variable.split('__')[0] ?? '';
    const meant = nearestName(section, sections(names));
    // Only a likely typing error is reported; other variables may belong to other programs.
    if (meant !== undefined && meant.length > 4) {
      warnings.push({ key: variable, text: `is not read (environment variable); did you mean ${meant}__…` });
    }
  }
  return { faults, warnings };
}

function refusal({ key }: RawEntry, names: readonly string[]): string | undefined {
  if (/:pkcs11:pin$/i.test(key))
    return 'must not be in the configuration. Put the PIN into an environment variable and name that variable in Pkcs11:PinEnvVar';
  if (!/^signing:profiles:/i.test(key) || isUnusedKey(key)) return undefined;
  return `is not a known key of a signing profile${suggestion(key, names)}`;
}

function unreadKeyWarning({ key, origin }: RawEntry, names: readonly string[]): string {
  if (isUnusedKey(key)) return `is known but not used by this version (${origin})`;
  return `is not a known key (${origin})${suggestion(key, names)}`;
}

function suggestion(key: string, names: readonly string[]): string {
  const written = key.replace(/:\d+(?=:|$)/g, ':#');
  const index = /:(\d+)(?=:|$)/.exec(key)?.[1] ?? '0';
  const meant = nearestName(written, names)?.replace('#', index);
  return meant === undefined ? '' : `; did you mean ${meant}`;
}

function sections(names: readonly string[]): readonly string[] {
  return [...new Set([...names, ...UNUSED_KEYS].map((name) => name.split(':')[0] ?? ''))];
}

/**
 * Returns the candidate with the smallest edit distance, compared without case; undefined when none is close enough to
 * be a likely typing error (a third of its letters).
 */
function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const changes = distance(name.toLowerCase(), candidate.toLowerCase());
    if (changes < fewest && changes <= Math.max(2, candidate.length / 3)) {
      best = candidate;
      fewest = changes;
    }
  }
  return best;
}

/** Computes the edit distance: letters inserted, removed, replaced, or swapped with the next one. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
