/** What a kind of value sees while it is read: the gathered entries, the circumstances, and a place for faults. */
import type { Fault, Warning } from './report.ts';
import { COMMAND_LINE, type EnvironmentName, type RawEntries, type RawEntry } from './sources.ts';

/** What defaults may depend on. */
export interface Circumstances {
  readonly cwd: string;
  readonly environment: EnvironmentName;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `Storage:Root`, absolute; the content root until that key has been read. */
  readonly root: string;
}

/** One resolved key for people and scripts; secrets are already masked. */
export interface Resolved {
  readonly key: string;
  readonly value: string | number | boolean | null;
  /** File, environment variable or command line; null for a default. */
  readonly origin: string | null;
}

/** What a secret looks like wherever configuration is shown. */
export const MASK = '***';

export class Reading {
  readonly circumstances: Circumstances;
  readonly faults: Fault[] = [];
  readonly warnings: Warning[] = [];
  readonly resolved: Resolved[] = [];
  /** Configured secret values, for redaction. */
  readonly secrets = new Set<string>();
  readonly #entries: RawEntries;
  readonly #used = new Set<string>();

  constructor(entries: RawEntries, circumstances: Circumstances) {
    this.#entries = entries;
    this.circumstances = circumstances;
  }

  /** The entry of a key, if some source has one. The key counts as known from now on. */
  take(key: string): RawEntry | undefined {
    this.#used.add(key.toLowerCase());
    return this.#entries.get(key.toLowerCase());
  }

  /** Names directly below a list's key that are indexes, in numeric order. */
  indexes(key: string): readonly string[] {
    const prefix = `${key.toLowerCase()}:`;
    const found = new Set<string>();
    for (const name of this.#entries.keys()) {
      const index = name.startsWith(prefix) ? (name.slice(prefix.length).split(':')[0] ?? '') : '';
      if (/^\d+$/.test(index)) found.add(index);
    }
    return [...found].sort((left, right) => Number(left) - Number(right));
  }

  /** Records a broken rule. The value is repeated only when it is not secret. */
  fault(key: string, rule: string, found?: { readonly entry: RawEntry; readonly secret: boolean }): void {
    if (found === undefined) {
      this.faults.push({ key, rule });
      return;
    }
    const { entry, secret } = found;
    const shown = secret ? '' : `${JSON.stringify(presentable(entry.text ?? ''))} `;
    this.faults.push({ key, rule, found: `found ${shown}in ${entry.origin}` });
  }

  /** Keeps a configured secret out of what is shown and logged. */
  hide(key: string, { text = '', origin }: RawEntry): void {
    if (text === '') return;
    this.secrets.add(text);
    if (origin === COMMAND_LINE) {
      this.warnings.push({
        key,
        text: 'stands on the command line, where every user of this machine can read it; an environment variable or a file of the service keeps it',
      });
    }
  }

  /** Entries no key has asked for. */
  unused(): readonly RawEntry[] {
    return [...this.#entries].filter(([key]) => !this.#used.has(key)).map(([, entry]) => entry);
  }
}

/** A value as a message may repeat it: not too long, and without the password of a URL. */
function presentable(text: string): string {
  const plain = text.replace(/\/\/[^/\s]*@/g, `//${MASK}@`);
  return plain.length > 80 ? `${plain.slice(0, 77)}...` : plain;
}
