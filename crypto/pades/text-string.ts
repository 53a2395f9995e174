/**
 * Text strings (ISO 32000-2, 7.9.2.2) as they are written into dictionaries: literal where the characters are those
 * of every encoding, else UTF-16BE with its mark, in hexadecimal.
 */
export function textString(text: string): string {
  if (/^[\w .-]*$/.test(text)) return `(${text})`;
  if (/^[ -~]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`;
  return `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
}
