/** State of reading the settings: the collected entries, the environment, and the faults. */
import type { Fault, Warning } from './findings.ts';
import { COMMAND_LINE, type EnvironmentName, type RawEntries, type RawEntry } from './sources.ts';

/** Values that defaults may depend on. */
export interface ReadingContext {
  readonly cwd: string;
  readonly environment: EnvironmentName;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `Storage:Root`, absolute; the content root until that key has been read. */
  readonly root: string;
}

/** One resolved key for people and scripts; secrets are masked. */
export interface Resolved {
  readonly key: string;
  readonly value: string | number | boolean | null;
  /** File, environment variable or command line; null for a default. */
  readonly origin: string | null;
}

/** Mask of a secret in any output of the configuration. */
export const MASK = '***';

const SPACE_AT_ENDS =
  'begins or ends with white space, such as the line end of a file, which counts as part of the secret';

const QUOTED =
  'is in quotation marks, which count as part of the value: files of variables for containers keep them';
const UNEXPANDED =
  'begins with what only shells replace, and is taken as the name of a folder: write the whole path';

export class Reading {
  readonly context: ReadingContext;
  readonly faults: Fault[] = [];
  readonly warnings: Warning[] = [];
  readonly resolved: Resolved[] = [];
  /** Configured secret values, for redaction. */
  readonly secrets = new Set<string>();
  readonly #entries: RawEntries;
  readonly #used = new Set<string>();

  constructor(entries: RawEntries, context: ReadingContext) {
    this.#entries = entries;
    this.context = context;
  }

  /** Returns the entry of a key, if a source has one, and marks the key as known. */
  read(key: string): RawEntry | undefined {
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

  /** Records a broken rule. The message repeats the value only if it is not secret. */
  fault(key: string, rule: string, found?: { readonly entry: RawEntry; readonly secret: boolean }): void {
    if (found === undefined) {
      this.faults.push({ key, rule });
      return;
    }
    const { entry, secret } = found;
    const shown = secret ? '' : `${JSON.stringify(presentable(entry.text ?? ''))} `;
    this.faults.push({ key, rule, found: `found ${shown}in ${entry.origin}` });
  }

  /** Records a secret that is redacted in outputs and logs. */
  hide(key: string, { text = '', origin }: RawEntry): void {
    if (text === '') return;
    this.keep(key, text);
    if (origin === COMMAND_LINE) {
      this.warnings.push({
        key,
        text: 'is on the command line, where each user of this machine can read it. Set it by an environment variable or in a file that only the service reads',
      });
    }
  }

  /** Keeps a secret for redaction. @param name of its key or environment variable */
  keep(name: string, secret: string): void {
    if (secret === '') return;
    this.secrets.add(secret);
    if (
      secret !== secret.trim() &&
      !this.warnings.some(({ key, text }) => key === name && text === SPACE_AT_ENDS)
    )
      this.warnings.push({ key: name, text: SPACE_AT_ENDS });
  }

  /** Warns of a text that counts as it is written, and was hardly meant so. The message does not repeat it. */
  doubt(key: string, { text = '', origin }: RawEntry, kind: 'path' | 'secret' | 'text'): void {
    const warn = (why: string) => this.warnings.push({ key, text: `${why} (${origin})` });
    if (/^(["']).*\1$/s.test(text) && text.length > 1) warn(QUOTED);
    // Secrets have a warning of their own.
    if (kind !== 'secret' && text !== text.trim())
      warn(
        'begins or ends with white space, such as the line end of a file, which counts as part of the value',
      );
    if (kind === 'path' && /^(?:~(?:\/|$)|\$\{?\w+\}?|%\w+%)/.test(text)) warn(UNEXPANDED);
  }

  /** Entries whose keys are not known. */
  unused(): readonly RawEntry[] {
    return [...this.#entries].filter(([key]) => !this.#used.has(key)).map(([, entry]) => entry);
  }
}

/** Formats a value for a message: shortened, and without the password of a URL. */
function presentable(text: string): string {
  const plain = text.replace(/\/\/[^/\s]*@/g, `//${MASK}@`);
  return plain.length > 80 ? `${plain.slice(0, 77)}...` : plain;
}
