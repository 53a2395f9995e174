/** White space (XML 1.0 §2.3). */

/** True when the bytes from `start` to `end` are white space. */
export function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isSpace(bytes[at] ?? 0)) return false;
  return true;
}

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}
