/** Output of commands, and failures as people read them. */

/** Place where a command writes. */
export interface Terminal {
  /** Standard output. */
  out(text: string): void;
  /** Standard error. */
  err(text: string): void;
  /** True when standard output takes ANSI colours. */
  readonly colors: boolean;
}

/** 0: every file is good. 1: one is not. 2: options that can't be used. */
export type ExitCode = 0 | 1 | 2;

/** Paints a text when the terminal takes colours. */
export function painter({ colors }: Pick<Terminal, 'colors'>) {
  const paint = (code: number) => (text: string) => (colors ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
const NAMED: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Escapes characters that would control a terminal. */
export function escapeControls(text: string): string {
  return text.replace(
    UNSAFE,
    (char) => NAMED.get(char) ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Code and message of anything thrown. */
export function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: 'internal', message: String(error) };
  const { code } = error as { readonly code?: unknown };
  return { code: typeof code === 'string' ? code : 'internal', message: error.message };
}
