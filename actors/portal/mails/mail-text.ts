/**
 * Stored mails (`.eml`): written so that their links survive copying, and read for the development mailbox.
 *
 * Source: RFC 2045 §§6.7 and 6.8; RFC 2046 §5.1; RFC 2047 §4.
 */
const BLANK_LINE = '\r\n\r\n';
/** Maximum length of a line without a transfer encoding, octets. Source: RFC 5322 §2.1.1. */
const MAX_LINE_OCTETS = 998;

/** A stored mail, as people read it. */
export interface ReadableMail {
  readonly subject: string;
  /** Headers and plain text. */
  readonly text: string;
  /** The page of the same words; undefined in a mail without one. */
  readonly html: string | undefined;
}

interface Part {
  readonly head: string;
  /** Decoded. */
  readonly body: string;
}

/** @param raw the mail, lines ending in CR LF; a mail of another form is returned unchanged */
export function readableMail(raw: string): ReadableMail {
  const { head, parts } = partsOf(raw);
  // The HTML with its logo is a `multipart/related` inside.
  const inner = parts
    .filter(({ head: lines }) => /^content-type: *multipart\/related/im.test(lines))
    .flatMap((part) => partsOf(`${part.head}${BLANK_LINE}${part.body}`).parts);
  const find = (type: RegExp) => [...parts, ...inner].find(({ head: lines }) => type.test(lines));
  const text = find(/^content-type: *text\/plain/im)?.body;
  return {
    subject: subjectOf(head),
    text: text === undefined ? raw : `${head}${BLANK_LINE}${text}\r\n`,
    html: find(/^content-type: *text\/html/im)?.body,
  };
}

/** Replaces transfer encodings, which break long links over lines, by `8bit`, where no line is too long for it. */
export function withoutTransferEncoding(raw: string): string {
  const { head, delimiter, parts, end } = partsOf(raw);
  if (parts.length === 0) return raw;
  const written = parts.map((part) => {
    const body = part.body.replaceAll(/\r?\n/g, '\r\n');
    const fits = body.split('\r\n').every((line) => Buffer.byteLength(line) <= MAX_LINE_OCTETS);
    if (!fits) return `${part.head}${BLANK_LINE}${part.encoded}`;
    return `${part.head.replace(ENCODING, 'Content-Transfer-Encoding: 8bit')}${BLANK_LINE}${body}`;
  });
  return [`${head}\r\n`, ...written].join(delimiter) + end;
}

const ENCODING = /^content-transfer-encoding: *(\S+)/im;

/** The parts of a `multipart/alternative`; none of a mail of another kind. */
function partsOf(raw: string) {
  const from = raw.indexOf(BLANK_LINE);
  const head = raw.slice(0, from);
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1];
  const delimiter = `\r\n--${boundary}`;
  const [, ...pieces] = boundary === undefined ? [] : raw.slice(from).split(delimiter);
  const last = pieces.pop();
  const parts = pieces.map((piece): Part & { readonly encoded: string } => {
    const at = piece.indexOf(BLANK_LINE);
    const encoded = piece.slice(at + BLANK_LINE.length);
    const partHead = piece.slice(0, at);
    return { head: partHead, encoded, body: decoded(encoded, ENCODING.exec(partHead)?.[1]) };
  });
  return { head, delimiter, parts, end: last === undefined ? '' : `${delimiter}${last}` };
}

function decoded(text: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  return encoding === 'quoted-printable' ? quotedPrintable(text.replaceAll('=\r\n', '')) : text;
}

function quotedPrintable(text: string): string {
  const octets = text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(octets, 'latin1').toString('utf8');
}

/** Decodes the words of RFC 2047 in the header; spaces between two of them do not count. */
function subjectOf(head: string): string {
  const line = /^subject: *((?:[^\r\n]|\r\n[ \t])*)/im.exec(head)?.[1] ?? '';
  return line
    .replaceAll(/\r\n[ \t]/g, ' ')
    .replaceAll(/(=\?utf-8\?[bq]\?[^?]*\?=)\s+(?==\?utf-8)/gi, '$1')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : quotedPrintable(word.replaceAll('_', ' ')),
    );
}
