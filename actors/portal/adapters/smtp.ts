/**
 * Sends mails through a relay. Connections are kept for a while and shared; each answer of the relay is waited for only
 * so long. Tries are not repeated in here.
 *
 * Source: RFC 5321; issue 5, "E-mails".
 */
import { createTransport } from 'nodemailer';
import type { Clock } from '../../../runtime/index.ts';
import { describeFailure } from '../../../runtime/index.ts';
import { type Mailer, MailFailure } from '../mail-port.ts';
import { mailMessage } from './mail-message.ts';

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

/** Commands whose refusal concerns this recipient or this mail alone; any other is a matter between us and the relay. */
const ABOUT_THE_MAIL: ReadonlySet<string> = new Set(['RCPT TO', 'DATA', 'API']);

export function createSmtpMailer(options: SmtpOptions): Mailer {
  const { clock, connectTimeout = 10_000, silenceTimeout = 30_000, sendTimeout = 60_000 } = options;
  const transport = createTransport({
    pool: true,
    host: options.host,
    port: options.port,
    secure: options.secure,
    name: options.name,
    ...(options.user !== undefined && { auth: { user: options.user, pass: options.password ?? '' } }),
    maxConnections: options.connections ?? 8,
    maxRequeues: 0,
    connectionTimeout: connectTimeout,
    greetingTimeout: connectTimeout,
    dnsTimeout: connectTimeout,
    socketTimeout: silenceTimeout,
    logger: false,
  });
  return {
    async send(mail, signal) {
      const late = new AbortController();
      const cancel = clock.after(sendTimeout, () => late.abort());
      try {
        const sent = await transport.sendMail({
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
    close: () => transport.close(),
  };
}

/** What the mail library throws, beyond an error. */
interface SmtpError {
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly command?: unknown;
}

/** A mailbox that does not exist will not; everything else may be better later. */
function failureOf(error: unknown): MailFailure {
  const { code, message } = describeFailure(error);
  const { responseCode, response, command } = error as SmtpError;
  if (typeof responseCode !== 'number')
    return new MailFailure('mail.unreachable', `${code}: ${message}`, false);
  const text = typeof response === 'string' && response !== '' ? response : message;
  const permanent = responseCode >= 500 && ABOUT_THE_MAIL.has(String(command));
  return new MailFailure(permanent ? 'mail.refused' : 'mail.delayed', text, permanent);
}
