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

/** Paints a text when the terminal takes colours. */
export function painter(terminal: Pick<Terminal, 'colors'>) {
  const paint = (code: number) => (text: string) =>
    terminal.colors ? `\u001b[${code}m${text}\u001b[0m` : text;
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33) };
}
