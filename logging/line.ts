/**
 * One log line: `2026-05-26T15:42:11.123Z [INF] text {JobId: "…", Format: "Pades"}`.
 *
 * Nothing in a line can end it or move the cursor: control characters, line separators and direction overrides are
 * escaped, so a file name cannot forge an entry.
 *
 * Source: docs/batch-values.md §12.
 */
import { REDACTED } from './redaction.ts';

/** Levels in ascending order, with their names in pino and their marks in a line. */
export const LEVELS = {
  Verbose: { pino: 'trace', severity: 10, mark: 'VRB' },
  Debug: { pino: 'debug', severity: 20, mark: 'DBG' },
  Information: { pino: 'info', severity: 30, mark: 'INF' },
  Warning: { pino: 'warn', severity: 40, mark: 'WRN' },
  Error: { pino: 'error', severity: 50, mark: 'ERR' },
  Fatal: { pino: 'fatal', severity: 60, mark: 'FTL' },
} as const;
export type Level = keyof typeof LEVELS;

/** Types of property values. */
export type PropertyValue = string | number | boolean | null;

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
  const shown: string[] = [];
  for (const [name, value] of Object.entries(parts.properties ?? {})) {
    const title = name.slice(0, 1).toUpperCase() + name.slice(1);
    shown.push(`${escapeControls(title)}: ${value === REDACTED ? REDACTED : propertyText(value, scrub)}`);
  }
  return shown.length === 0 ? `${head}\n` : `${head} {${shown.join(', ')}}\n`;
}

function propertyText(value: PropertyValue, scrub: (text: string) => string): string {
  if (typeof value !== 'string') return scrub(String(value));
  const quoted = scrub(value).replace(/[\\"]/g, '\\$&');
  return `"${escapeControls(quoted)}"`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Escapes characters that would control a terminal or a line reader. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (char) => {
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}
