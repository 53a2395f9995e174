/**
 * Formats text strings (ISO 32000-2, 7.9.2.2): literal for characters that all encodings
 * share, else UTF-16BE with its byte order mark, in hexadecimal.
 */
export function textString(text: string): string {
  if (/^[\w .-]*$/.test(text)) return `(${text})`;
  if (/^[ -~]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`;
  return `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
}
