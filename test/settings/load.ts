/** Loads settings from made-up sources: the same function the program uses, without touching the machine. */
import { type LoadedSettings, loadSettings, type Settings } from '../../settings.ts';

export interface MadeUp {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute path → text. */
  readonly files?: Readonly<Record<string, string>>;
}

export function load({ argv = [], env = {}, files = {} }: MadeUp): LoadedSettings {
  return loadSettings({ argv, env, cwd: '/srv/app', readFile: (path) => files[path] });
}

/** The settings of sources that must be accepted. */
export function accepted(sources: MadeUp): Settings {
  const loaded = load(sources);
  if (!loaded.ok) throw new Error(`refused: ${JSON.stringify(loaded.faults)}`);
  return loaded.settings;
}

/** Keys of the faults of sources that must be refused. */
export function faultyKeys(sources: MadeUp): readonly string[] {
  const loaded = load(sources);
  return loaded.ok ? [] : loaded.faults.map(({ key }) => key);
}
