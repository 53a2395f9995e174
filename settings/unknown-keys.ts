/** Warnings about unknown keys. Their values are never repeated: a misspelt name may hide a secret. */
import { nearestName } from './nearest.ts';
import type { Fault, Warning } from './report.ts';
import type { RawEntry } from './sources.ts';
import { isUnusedKey, UNUSED_KEYS } from './unused-keys.ts';

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
    const promise = sectionPromise(entry);
    if (promise !== undefined)
      faults.push({ key: entry.key, rule: promise, found: `set in ${entry.origin}` });
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

function sectionPromise(entry: RawEntry): string | undefined {
  return /:pkcs11:pin$/i.test(entry.key)
    ? 'must not be in the configuration. Put the PIN into an environment variable and name that variable in Pkcs11:PinEnvVar'
    : undefined;
}

function unreadKeyWarning(entry: RawEntry, names: readonly string[]): string {
  if (isUnusedKey(entry.key)) return `is known but not used by this version (${entry.origin})`;
  const written = entry.key.replace(/:\d+(?=:|$)/g, ':#');
  const index = /:(\d+)(?=:|$)/.exec(entry.key)?.[1] ?? '0';
  const meant = nearestName(written, names)?.replace('#', index);
  return `is not a known key (${entry.origin})${meant === undefined ? '' : `; did you mean ${meant}`}`;
}

function sections(names: readonly string[]): readonly string[] {
  return [...new Set([...names, ...UNUSED_KEYS].map((name) => name.split(':')[0] ?? ''))];
}
