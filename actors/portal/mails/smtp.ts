/**
 * Sends mails through a relay. Connections are kept for a while and shared; each answer of the relay is waited for only
 * so long. Tries are not repeated in here.
 *
 * Source: RFC 5321; docs/decisions/0019-mails-and-webhooks.md.
 */

import { type Clock, describeFailure } from '@sealwright/runtime';
import { mailMessage } from './mail-message.ts';
import { type Mailer, MailFailure } from './mail-port.ts';
import { verdictOn } from './smtp-status.ts';

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (port 465); otherwise STARTTLS where the relay offers it. */
  readonly secure: boolean;
  readonly user?: string;
  readonly password?: string;
  /** Host name we introduce ourselves with. */
  readonly name: string;
  readonly clock: Pick<Clock, 'after'>;
  /** Connections at once. @default 8 */
  readonly connections?: number;
  /** Milliseconds: a connection, and the relay's first words. @default 10,000 */
  readonly connectTimeout?: number;
  /** Milliseconds without a byte from the relay. @default 30,000 */
  readonly silenceTimeout?: number;
  /** Milliseconds for one mail in all. @default 60,000 */
  readonly sendTimeout?: number;
}

/** Connects to the relay and logs in, without sending anything. Rejects with the failure of the relay or the system. */
export async function verifyRelay(options: Omit<SmtpOptions, 'clock' | 'connections'>): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ ...connectionOf(options) });
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

function connectionOf(options: Omit<SmtpOptions, 'clock' | 'connections'>) {
  const { connectTimeout = 10_000, silenceTimeout = 30_000 } = options;
  return {
    host: options.host,
    port: options.port,
    secure: options.secure,
    name: options.name,
    ...(options.user !== undefined && { auth: { user: options.user, pass: options.password ?? '' } }),
    connectionTimeout: connectTimeout,
    greetingTimeout: connectTimeout,
    dnsTimeout: connectTimeout,
    socketTimeout: silenceTimeout,
    logger: false,
  } as const;
}

export function createSmtpMailer(options: SmtpOptions): Mailer {
  const { clock, sendTimeout = 60_000 } = options;
  let isClosed = false;
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    const opened = createTransport({
      ...connectionOf(options),
      pool: true,
      maxConnections: options.connections ?? 8,
      maxRequeues: 0,
    });
    if (isClosed) opened.close();
    return opened;
  };
  /** Opened by the first mail: loading the library takes 3 % of a start. */
  let transport: ReturnType<typeof open> | undefined;
  return {
    async send(mail, signal) {
      const late = new AbortController();
      const cancel = clock.after(sendTimeout, () => late.abort());
      try {
        transport ??= open().catch((error: unknown) => {
          // The library may be there again for the next mail.
          transport = undefined;
          throw error;
        });
        const sent = await (await transport).sendMail({
          ...mailMessage(mail),
          signal: AbortSignal.any([signal, late.signal]),
        });
        return sent.response;
      } catch (error) {
        if (late.signal.aborted)
          throw new MailFailure(
            'mail.timeout',
            `The relay took longer than ${sendTimeout} milliseconds.`,
            false,
          );
        throw failureOf(error);
      } finally {
        cancel();
      }
    },
    close() {
      isClosed = true;
      transport?.then(
        (opened) => opened.close(),
        () => {},
      );
    },
  };
}

const CODES = { recipient: 'mail.refused', relay: 'mail.relay-refused', later: 'mail.delayed' } as const;

/** Error properties of the mail library. */
interface SmtpError {
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly command?: unknown;
}

function failureOf(error: unknown): MailFailure {
  const { code, message } = describeFailure(error);
  const { responseCode, response, command } = error as SmtpError;
  if (typeof responseCode !== 'number')
    return new MailFailure('mail.unreachable', `${code}: ${message}`, false);
  const text = typeof response === 'string' && response !== '' ? response : message;
  const verdict = verdictOn({ command: String(command), code: responseCode, text });
  return new MailFailure(CODES[verdict], text, verdict === 'recipient');
}
