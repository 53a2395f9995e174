/**
 * One log line: `2026-05-26T15:42:11.123Z [INF] text {JobId: "…", Format: "Pades"}`.
 *
 * Nothing in a line can end it or move the cursor: control characters, line separators and direction overrides are
 * escaped, so a file name cannot forge an entry.
 *
 * Source: batch-gaps §12, "Line".
 */
import { isSecretName, REDACTED } from './redaction.ts';

/** Severities, least first, and their marks in a line. */
export const LEVELS = {
  Verbose: 'VRB',
  Debug: 'DBG',
  Information: 'INF',
  Warning: 'WRN',
  Error: 'ERR',
  Fatal: 'FTL',
} as const;
export type Level = keyof typeof LEVELS;

/** What a property may hold. */
export type PropertyValue = string | number | boolean | null | undefined;

export interface LineParts {
  /** Milliseconds since the epoch, UTC. */
  readonly at: number;
  readonly level: Level;
  readonly text: string;
  readonly properties: Readonly<Record<string, PropertyValue>> | undefined;
}

/** The line with its line end. Undefined properties are left out; names begin with a capital. */
export function formatLine(parts: LineParts, scrub: (text: string) => string): string {
  const head = `${timestamp(parts.at)} [${LEVELS[parts.level]}] ${escapeControls(scrub(parts.text))}`;
  const shown: string[] = [];
  for (const [name, value] of Object.entries(parts.properties ?? {})) {
    if (value === undefined) continue;
    const title = name.slice(0, 1).toUpperCase() + name.slice(1);
    shown.push(`${escapeControls(title)}: ${isSecretName(title) ? REDACTED : propertyText(value, scrub)}`);
  }
  return shown.length === 0 ? `${head}\n` : `${head} {${shown.join(', ')}}\n`;
}

function propertyText(value: Exclude<PropertyValue, undefined>, scrub: (text: string) => string): string {
  if (typeof value !== 'string') return scrub(String(value));
  const quoted = scrub(value).replace(/[\\"]/g, '\\$&');
  return `"${escapeControls(quoted)}"`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Makes characters visible that would act on a terminal or on a reader of lines. */
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
