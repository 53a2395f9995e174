/** A real SMTP relay for tests: keeps what it takes, refuses mailboxes called `nobody…`, and can hang on request. */
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { SMTPServer } from 'smtp-server';

export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came over the wire. */
  readonly raw: string;
}

export interface Relay {
  readonly port: number;
  readonly taken: TakenMail[];
  /** Recipients whose mails the relay does not answer any more. */
  readonly hanging: Set<string>;
  /** Recipients whose mails the relay does not take for the present. */
  readonly busy: Set<string>;
  /** Answers to recipients, at their command or at the end of the mail. */
  readonly refusals: Map<
    string,
    { readonly at: 'RCPT' | 'DATA'; readonly code: number; readonly text: string }
  >;
  close(): Promise<void>;
}

/** @param onTaken called for each mail */
export async function startRelay(
  t: Pick<ExecutionContext, 'teardown'>,
  port = 0,
  onTaken: () => void = () => {},
): Promise<Relay> {
  const taken: TakenMail[] = [];
  const hanging = new Set<string>();
  const busy = new Set<string>();
  const refusals: Relay['refusals'] = new Map();
  const server = new SMTPServer({
    authOptional: true,
    // It greets after the answer of a name server, which may take 1.5 s.
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      const refuse = (code: number, text: string) =>
        done(Object.assign(new Error(text), { responseCode: code }));
      const given = refusals.get(address);
      if (given?.at === 'RCPT') refuse(given.code, given.text);
      else if (address.startsWith('nobody')) refuse(550, 'No such user here');
      else if (address.startsWith('greylisted') || busy.has(address)) refuse(451, 'Come back later');
      else if (!hanging.has(address)) done();
    },
    onData(stream, session, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const given = refusals.get(rcptTo[0]?.address ?? '');
        if (given !== undefined) {
          done(Object.assign(new Error(given.text), { responseCode: given.code }));
          return;
        }
        taken.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(pieces).toString('utf8'),
        });
        onTaken();
        done();
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  t.teardown(close);
  return { port: (server.server.address() as AddressInfo).port, taken, hanging, busy, refusals, close };
}

/** Header fields of a mail, unfolded, by lower-case name. */
export function headersOf(raw: string): ReadonlyMap<string, string> {
  const [head = ''] = raw.split(/\r?\n\r?\n/, 1);
  const headers = new Map<string, string>();
  for (const line of head.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

/** The decoded parts of a mail by their media type. */
export function partsOf(raw: string): ReadonlyMap<string, string> {
  const boundary = /boundary="([^"]+)"/.exec(headersOf(raw).get('content-type') ?? '')?.[1];
  const parts = new Map<string, string>();
  for (const part of raw.split(`--${boundary}`).slice(1, -1)) {
    const at = part.search(/\r?\n\r?\n/);
    const headers = headersOf(part.slice(0, at).trimStart());
    const encoded = part.slice(at).trim();
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    parts.set(type, decode(encoded, headers.get('content-transfer-encoding') ?? ''));
  }
  return parts;
}

function decode(text: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return text;
  const bytes = text
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
