/**
 * Where configuration comes from: files, environment variables, command line. Each source becomes a flat list of
 * `A:B:0:C` → text, and later sources win key by key (lists by index).
 *
 * Source: batch-gaps §5, "Sources"; running.md, "Configuration".
 */
import { isAbsolute, join, resolve } from 'node:path';
import { JsonFault, type JsonValue, readJson } from './json.ts';
import { keyByIndex, profileNameIn } from './profile-names.ts';
import type { Fault } from './report.ts';

export type EnvironmentName = 'Production' | 'Development';

/** What `loadSettings` may look at; nothing else of the process is read. */
export interface Surroundings {
  /** Command-line words. Only `--Section:Key=value` and `--config-dir` are read. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The content root: relative paths and `appsettings.json` start here. */
  readonly cwd: string;
  /** The text of a file; undefined when there is none. Any other failure throws. */
  readonly readFile: (path: string) => string | undefined;
}

/** One configured value and where it was found, for messages. */
export interface RawEntry {
  /** As written in the source. */
  readonly key: string;
  /** Undefined = explicitly nothing (JSON `null`): back to the default. Empty for an empty list. */
  readonly text: string | undefined;
  readonly origin: string;
}

/** Origin of what every user of the machine can read while the program runs. */
export const COMMAND_LINE = 'the command line';

/** Entries by lower-case key, the winning one each. */
export type RawEntries = ReadonlyMap<string, RawEntry>;

export function environmentName(env: Surroundings['env']): EnvironmentName {
  return env['NODE_ENV'] === 'production' ? 'Production' : 'Development';
}

/** Records an entry; `whole` means that it replaces everything an earlier source put under the key. */
type Put = (entry: RawEntry, whole?: boolean) => void;

/** True for a command-line word that sets a key: `--A:B=value`. */
export function isSettingArgument(word: string): boolean {
  const [name = '', value] = word.split('=', 2);
  return /^--[A-Za-z]\w*:/.test(name) || (/^--[A-Z]\w*$/.test(name) && value !== undefined);
}

/** What all sources said. */
export interface Gathered {
  readonly entries: RawEntries;
  /** Unreadable files and malformed command-line words; never about values. */
  readonly faults: readonly Fault[];
  /** Environment variables written like ours whose section is none of ours. */
  readonly strangers: readonly string[];
}

/** Reads every source in order. */
export function gather(
  surroundings: Surroundings,
  isSection: (name: string) => boolean,
  isSimpleKey: (name: string) => boolean,
): Gathered {
  const faults: Fault[] = [];
  const strangers: string[] = [];
  const entries = new Map<string, RawEntry>();
  const put: Put = (entry, whole) => {
    const key = entry.key.toLowerCase();
    if (whole)
      for (const other of [...entries.keys()]) if (other.startsWith(`${key}:`)) entries.delete(other);
    entries.set(key, entry);
  };

  /** Keys that name a profile; they win over those by index, so they are put in after all of these. */
  const byName: RawEntry[] = [];
  const putVariable = (entry: RawEntry) => {
    if (profileNameIn(entry.key) === undefined) put(entry);
    else byName.push(entry);
  };

  for (const file of configurationFiles(surroundings)) readSettingsFile(surroundings, file, put, faults);
  for (const [name, text] of Object.entries(surroundings.env)) {
    if (text === undefined || !(name.includes('__') || isSimpleKey(name))) continue;
    const key = name.replaceAll('__', ':');
    // Other programs use double underscores too; only our sections are ours.
    if (isSection(key.split(':')[0] ?? ''))
      putVariable({ key, text, origin: `environment variable ${name}` });
    else strangers.push(name);
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
  return { entries, faults, strangers };
}

/** Files in reading order. Those in the configuration folder come after those of the content root. */
function configurationFiles({ argv, env, cwd }: Surroundings): string[] {
  const names = ['appsettings.json', `appsettings.${environmentName(env)}.json`];
  const given = configDirArgument(argv) ?? env['SEALWRIGHT_CONFIG_DIR'];
  const folders = given === undefined || given === '' ? [cwd] : [cwd, resolve(cwd, given)];
  return [...new Set(folders)].flatMap((folder) => names.map((name) => join(folder, name)));
}

function configDirArgument(argv: readonly string[]): string | undefined {
  for (const [index, word] of argv.entries()) {
    if (word.startsWith('--config-dir=')) return word.slice('--config-dir='.length);
    if (word === '--config-dir') return argv[index + 1];
  }
  return undefined;
}

function readSettingsFile({ cwd, readFile }: Surroundings, path: string, put: Put, faults: Fault[]): void {
  const shown = isAbsolute(path) && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
  try {
    const text = readFile(path);
    if (text === undefined) return;
    const tree = readJson(text);
    if (typeof tree !== 'object' || tree === null || !('members' in tree)) {
      faults.push({ key: shown, rule: 'holds one JSON object' });
      return;
    }
    flatten(tree, '', shown, put);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const why = error instanceof JsonFault ? error.message : `cannot be read (${String(code ?? 'unknown')})`;
    faults.push({ key: shown, rule: error instanceof JsonFault ? `is not JSON: ${why}` : why });
  }
}

function flatten(value: JsonValue, key: string, origin: string, put: Put): void {
  if (typeof value !== 'object' || value === null) {
    put({ key, text: value === null ? undefined : String(value), origin }, value === null);
    return;
  }
  const members: readonly (readonly [string, JsonValue])[] =
    'members' in value ? value.members : value.map((entry, index) => [String(index), entry] as const);
  // An empty list says "none", which is not the same as saying nothing.
  if (members.length === 0 && !('members' in value)) put({ key, text: '', origin }, true);
  for (const [name, member] of members) flatten(member, key === '' ? name : `${key}:${name}`, origin, put);
}
