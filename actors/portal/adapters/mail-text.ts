/**
 * What people can read of a mail that `mail-message.ts` made: its headers as they are, and its text without the encoding it
 * travels in, which breaks long links.
 *
 * Source: RFC 2045 §§6.7 and 6.8; RFC 2046 §5.1.
 */
const BLANK_LINE = '\r\n\r\n';

/** @param raw the mail, lines ending in CR LF; one of another kind is given back as it is */
export function readableMail(raw: string): string {
  const end = raw.indexOf(BLANK_LINE);
  const head = raw.slice(0, end);
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1];
  // The text comes before the page of the same words.
  const part = raw.slice(end).split(`\r\n--${boundary}`)[1];
  if (boundary === undefined || part === undefined) return raw;
  const from = part.indexOf(BLANK_LINE);
  const encoding = /^content-transfer-encoding: *(\S+)/im.exec(part.slice(0, from))?.[1];
  return `${head}${BLANK_LINE}${decoded(part.slice(from + BLANK_LINE.length), encoding)}\r\n`;
}

function decoded(text: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return text;
  const octets = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, 'latin1').toString('utf8');
}
