/** What is said about keys nobody reads. Their values are never repeated: a slip in the name may hide a secret. */
import { nearest } from './nearest.ts';
import type { Fault, Warning } from './report.ts';
import type { RawEntry } from './sources.ts';
import { isUnusedKey, UNUSED_KEYS } from './unused-keys.ts';

/** True when the name is the first part of any key, read or only known. */
export function isSectionOf(name: string, keys: readonly string[]): boolean {
  return sections(keys).some((section) => section.toLowerCase() === name.toLowerCase());
}

/**
 * @param entries configured keys that nothing has read
 * @param strangers environment variables with double underscores outside every section
 * @param names every key this version reads, `#` standing for an index
 */
export function unknownKeys(
  entries: readonly RawEntry[],
  strangers: readonly string[],
  names: readonly string[],
) {
  const faults: Fault[] = [];
  const warnings: Warning[] = [];
  for (const entry of entries.filter(({ text }) => text !== undefined)) {
    const promise = promiseOf(entry);
    if (promise !== undefined)
      faults.push({ key: entry.key, rule: promise, found: `set in ${entry.origin}` });
    else warnings.push({ key: entry.key, text: aboutUnread(entry, names) });
  }
  for (const variable of strangers) {
    const section = variable.split('__')[0] ?? '';
    const meant = nearest(section, sections(names));
    // Only a likely slip is worth a line; variables of other programs are none of our business.
    if (meant !== undefined && meant.length > 4) {
      warnings.push({ key: variable, text: `is not read (environment variable); did you mean ${meant}__…` });
    }
  }
  return { faults, warnings };
}

function promiseOf(entry: RawEntry): string | undefined {
  return /:pkcs11:pin$/i.test(entry.key)
    ? 'must not stand in the configuration; Pkcs11:PinEnvVar names an environment variable'
    : undefined;
}

function aboutUnread(entry: RawEntry, names: readonly string[]): string {
  if (isUnusedKey(entry.key)) return `is known but not used by this version (${entry.origin})`;
  const written = entry.key.replace(/:\d+(?=:|$)/g, ':#');
  const index = /:(\d+)(?=:|$)/.exec(entry.key)?.[1] ?? '0';
  const meant = nearest(written, names)?.replace('#', index);
  return `is not a known key (${entry.origin})${meant === undefined ? '' : `; did you mean ${meant}`}`;
}

function sections(names: readonly string[]): readonly string[] {
  return [...new Set([...names, ...UNUSED_KEYS].map((name) => name.split(':')[0] ?? ''))];
}
