/**
 * One log line: `2026-05-26T15:42:11.123Z [INF] text {JobId: "…", Format: "Pades"}`. Nothing in a line can end it or move
 * the cursor: control characters, line separators and direction overrides are escaped, so a file name cannot forge an entry.
 *
 * Source: docs/batch-values.md §12.
 */
import { PIN, REDACTED, SECRET_WORDS } from './secrets.ts';

/** Names of properties are those in the code: few. Maximum number kept. */
const MAX_NAMES = 1_000;

interface PropertyName {
  /** As in a line, with a capital. */
  readonly title: string;
  /** True: its values are not written. */
  readonly isSecret: boolean;
}
const NAMES = new Map<string, PropertyName>();

function propertyName(name: string): PropertyName {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const title = escapeControls(name.slice(0, 1).toUpperCase() + name.slice(1));
  const found = { title, isSecret: SECRET_WORDS.test(name) || PIN.test(name) };
  if (NAMES.size < MAX_NAMES) NAMES.set(name, found);
  return found;
}

/** Levels in ascending order, with their marks in a line. */
export const LEVELS = {
  Verbose: { severity: 10, mark: 'VRB' },
  Debug: { severity: 20, mark: 'DBG' },
  Information: { severity: 30, mark: 'INF' },
  Warning: { severity: 40, mark: 'WRN' },
  Error: { severity: 50, mark: 'ERR' },
  Fatal: { severity: 60, mark: 'FTL' },
} as const;
export type Level = keyof typeof LEVELS;

/** Types of property values. */
export type PropertyValue = string | number | boolean | null | undefined;

export interface LogLine {
  /** Milliseconds since the epoch, UTC. */
  readonly at: number;
  readonly level: Level;
  readonly text: string;
  readonly properties?: Readonly<Record<string, PropertyValue>>;
}

/** Formats a line with its line end. Names of properties begin with a capital. */
export function formatLine(parts: LogLine, scrub: (text: string) => string): string {
  const head = `${timestamp(parts.at)} [${LEVELS[parts.level].mark}] ${escapeControls(scrub(parts.text))}`;
  let shown = '';
  const { properties = {} } = parts;
  for (const name of Object.keys(properties)) {
    const value = properties[name];
    if (value === undefined) continue;
    const { title, isSecret } = propertyName(name);
    const text = isSecret ? REDACTED : propertyText(value, scrub);
    shown = shown === '' ? `${title}: ${text}` : `${shown}, ${title}: ${text}`;
  }
  return shown === '' ? `${head}\n` : `${head} {${shown}}\n`;
}

function propertyText(value: PropertyValue, scrub: (text: string) => string): string {
  const text = scrub(typeof value === 'string' ? value : String(value));
  if (typeof value !== 'string') return text;
  return PLAIN.test(text) ? `"${text}"` : `"${escapeControls(text.replace(/[\\"]/g, '\\$&'))}"`;
}

/** Nothing to escape: a test costs a tenth of two replacements. */
const PLAIN = /^[ !#-[\]-~]*$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Escapes characters that would control a terminal or a line reader. */
export function escapeControls(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSAFE, (char) => {
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

let lastSecond = { number: Number.NaN, text: '' };

/** The last second is kept: V8 takes a microsecond to format a time. */
function timestamp(at: number): string {
  const number = Math.floor(at / 1000);
  if (number !== lastSecond.number) lastSecond = { number, text: new Date(at).toISOString().slice(0, 20) };
  return `${lastSecond.text}${String(Math.floor(at - number * 1000)).padStart(3, '0')}Z`;
}
