/** The process in which a command runs, as the command uses it. */

import { relative } from 'node:path';
import type { Clock, Ids } from '@sealwright/runtime/core';
import { escapeControls } from '../logging.ts';

/** Place where a command writes for people. */
export interface Terminal {
  /** Standard output. */
  out(text: string): void;
  /** Standard error. */
  err(text: string): void;
  /** True when standard output takes ANSI colours. */
  readonly colors: boolean;
  /** True when a person reads standard output: it is a terminal. @default false */
  readonly interactive?: boolean;
}

/** Terminal, time and environment of a command. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** True when progress can be overwritten on the standard error. */
  readonly live: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Path of this program, for commands that people copy into a terminal; it holds for a clone, npx and a global installation. */
export function programFile(): string {
  return relative(process.cwd(), process.argv[1] ?? 'dist/main.js');
}

/** Paints a text when the terminal takes colours. */
export function painter(terminal: Pick<Terminal, 'colors'>) {
  const paint = (code: number) => (text: string) =>
    terminal.colors ? `\u001b[${code}m${text}\u001b[0m` : text;
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33) };
}

/** Columns as wide as their widest cell; control characters made visible. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = [head, ...rows].map((row) => row.map(escapeControls));
  const widths = head.map((_, at) => Math.max(...clean.map((row) => (row[at] ?? '').length)));
  const lines = clean.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
