/**
 * Sources of the configuration: files, environment variables, command line. Each source becomes a flat list of
 * `A:B:0:C` → text, and later sources override earlier ones key by key (lists by index).
 *
 * Source: docs/batch-values.md §5; docs/configuration.md.
 */

import { isAbsolute, join, resolve } from 'node:path';
import type { Fault, Warning } from './findings.ts';
import { JsonFault, readJsonEntries } from './json-entries.ts';

export type EnvironmentName = 'Production' | 'Development';

/** Inputs of `loadSettings`; it reads nothing else of the process. */
export interface Environment {
  /** Command-line arguments. Only `--Section:Key=value` and `--config-dir` are read. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The content root: relative paths and `appsettings.json` start here. */
  readonly cwd: string;
  /** Returns the text of a file; undefined when there is none. Throws on any other failure. */
  readonly readFile: (path: string) => string | undefined;
}

/** A configured value with its origin, for messages. */
export interface RawEntry {
  /** As written in the source. */
  readonly key: string;
  /** Undefined = explicit JSON `null`: the default applies. Empty for an empty list. */
  readonly text: string | undefined;
  readonly origin: string;
}

/** Origin that every user of the machine can read while the program runs. */
export const COMMAND_LINE = 'the command line';

/** The effective entries by lower-case key. */
export type RawEntries = ReadonlyMap<string, RawEntry>;

export function environmentName(env: Environment['env']): EnvironmentName {
  return env['NODE_ENV'] === 'production' ? 'Production' : 'Development';
}

/** Records an entry; `whole` means that it replaces all earlier entries below the key. */
type EntrySink = (entry: RawEntry, whole?: boolean) => void;

/** True for a command-line argument that sets a key: `--A:B=value`. */
export function isSettingArgument(word: string): boolean {
  const [name = '', value] = word.split('=', 2);
  return /^--[A-Za-z]\w*:/.test(name) || (/^--[A-Z]\w*$/.test(name) && value !== undefined);
}

/** The merged entries of all sources. */
export interface CollectedEntries {
  readonly entries: RawEntries;
  /** Unreadable files and malformed command-line words; never about values. */
  readonly faults: readonly Fault[];
  /** Environment variables with double underscores and an unknown section. */
  readonly unknownVariables: readonly string[];
  /** Names that were hardly meant as they count. */
  readonly warnings: readonly Warning[];
}

/** Reads every source in order. */
export function collectEntries(
  surroundings: Environment,
  isSection: (name: string) => boolean,
  isSimpleKey: (name: string) => boolean,
): CollectedEntries {
  const faults: Fault[] = [];
  const unknownVariables: string[] = [];
  const entries = new Map<string, RawEntry>();
  const put: EntrySink = (entry, whole) => {
    const key = entry.key.toLowerCase();
    if (whole)
      for (const other of [...entries.keys()]) if (other.startsWith(`${key}:`)) entries.delete(other);
    entries.set(key, entry);
  };

  /** Keys with profile names override those by index, so they are applied afterwards. */
  const byName: RawEntry[] = [];
  const putVariable = (entry: RawEntry) => {
    if (profileNameIn(entry.key) === undefined) put(entry);
    else byName.push(entry);
  };

  const warnings = environmentWarnings(surroundings.env);
  const given = configDir(surroundings);
  for (const folder of new Set([surroundings.cwd, given?.path ?? surroundings.cwd])) {
    const names = ['appsettings.json', `appsettings.${environmentName(surroundings.env)}.json`];
    const found = names.filter((name) => readSettingsFile(surroundings, join(folder, name), put, faults));
    warnings.push(
      ...otherSpellings(
        surroundings,
        folder,
        names.filter((name) => !found.includes(name)),
      ),
    );
    // Without the folder the defaults would be served, unnoticed.
    if (folder === given?.path && found.length === 0 && !exists(surroundings, folder))
      faults.push({ key: given.source, rule: `names a folder that does not exist: ${folder}` });
  }
  for (const [name, text] of Object.entries(surroundings.env)) {
    if (text === undefined || !(name.includes('__') || isSimpleKey(name))) continue;
    const key = name.replaceAll('__', ':');
    // Other programs use double underscores too; only known sections are read.
    if (isSection(key.split(':')[0] ?? ''))
      putVariable({ key, text, origin: `environment variable ${name}` });
    else unknownVariables.push(name);
  }
  for (const word of surroundings.argv.filter(isSettingArgument)) {
    const equals = word.indexOf('=');
    if (equals < 0) {
      faults.push({ key: word.slice(2), rule: `is written ${word}=<value> on the command line` });
      continue;
    }
    putVariable({ key: word.slice(2, equals), text: word.slice(equals + 1), origin: COMMAND_LINE });
  }
  for (const entry of byName) {
    const name = profileNameIn(entry.key) ?? '';
    put({ ...entry, key: keyByIndex(entry.key, name, entries) ?? entry.key });
  }
  return { entries, faults, unknownVariables, warnings };
}

/** `NODE_ENV=Production` is Development (docs/batch-values.md §2), where it was meant to be the opposite. */
function environmentWarnings({ NODE_ENV: given }: Environment['env']): Warning[] {
  if (given === undefined || given === 'production' || !/^\W*prod/i.test(given)) return [];
  const text = `is ${JSON.stringify(given.slice(0, 40))}, which counts as Development: Production is written production`;
  return [{ key: 'NODE_ENV', text }];
}

/** File systems without letter case find `appsettings.production.json`; this one does not. */
function otherSpellings(
  surroundings: Environment,
  folder: string,
  missing: readonly string[],
): readonly Warning[] {
  return missing.flatMap((name) => {
    const other = name.toLowerCase();
    if (other === name || !exists(surroundings, join(folder, other))) return [];
    return [
      { key: shownPath(surroundings, join(folder, other)), text: `is not read: its name must be ${name}` },
    ];
  });
}

/** The configuration folder, whose files come after those of the content root. */
function configDir({
  argv,
  env,
  cwd,
}: Environment): { readonly source: string; readonly path: string } | undefined {
  const argument = configDirArgument(argv);
  const given = argument ?? env['SEALWRIGHT_CONFIG_DIR'];
  if (given === undefined || given === '') return undefined;
  return {
    source: argument === undefined ? 'SEALWRIGHT_CONFIG_DIR' : '--config-dir',
    path: resolve(cwd, given),
  };
}

function exists({ readFile }: Environment, folder: string): boolean {
  try {
    return readFile(folder) !== undefined;
  } catch {
    return true;
  }
}

function configDirArgument(argv: readonly string[]): string | undefined {
  for (const [index, word] of argv.entries()) {
    if (word.startsWith('--config-dir=')) return word.slice('--config-dir='.length);
    if (word === '--config-dir') return argv[index + 1];
  }
  return undefined;
}

function shownPath({ cwd }: Environment, path: string): string {
  return isAbsolute(path) && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/** @returns whether the file exists */
function readSettingsFile(surroundings: Environment, path: string, put: EntrySink, faults: Fault[]): boolean {
  const shown = shownPath(surroundings, path);
  try {
    const text = surroundings.readFile(path);
    if (text === undefined) return false;
    // Editors and shells of Windows write UTF-16.
    if (text.includes('\0')) {
      faults.push({ key: shown, rule: 'is not in UTF-8; save it in that encoding' });
      return true;
    }
    for (const { key, text: value, whole } of readJsonEntries(text)) {
      put({ key, text: value, origin: shown }, whole);
    }
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const why = error instanceof JsonFault ? error.message : `cannot be read (${String(code ?? 'unknown')})`;
    faults.push({ key: shown, rule: error instanceof JsonFault ? `is not JSON: ${why}` : why });
  }
  return true;
}

/**
 * Beginning of a key with the name of a profile: `Signing:Profiles:invoices:…` stands for
 * `Signing:Profiles:<index of invoices>:…` in variables, because indexes change with the order of the entries.
 *
 * Source: docs/batch-values.md §5.
 */
const PROFILES = 'signing:profiles:';

/** Returns the name in a key below `Signing:Profiles`; undefined for an index, and for any other key. */
function profileNameIn(key: string): string | undefined {
  if (!key.toLowerCase().startsWith(PROFILES)) return undefined;
  const [name = '', ...members] = key.slice(PROFILES.length).split(':');
  return members.length > 0 && !/^\d+$/.test(name) ? name : undefined;
}

/**
 * Returns the key by index.
 * @param entries names found in the sources so far, by lower-case key
 * @returns undefined when no profile has the name; `_` also stands for the `-` of a name, which shells do not allow
 */
function keyByIndex(
  key: string,
  name: string,
  entries: ReadonlyMap<string, { readonly text: string | undefined }>,
): string | undefined {
  const wanted = name.toLowerCase().replaceAll('_', '-');
  for (const [declared, { text }] of entries) {
    const index = /^signing:profiles:(\d+):name$/.exec(declared)?.[1];
    if (index === undefined || text?.toLowerCase() !== wanted) continue;
    return `${key.slice(0, PROFILES.length)}${index}${key.slice(PROFILES.length + name.length)}`;
  }
  return undefined;
}
