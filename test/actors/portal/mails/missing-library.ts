/**
 * Program: sends two mails to a folder or a relay while the first import of the mail library fails, and prints what became
 * of each.
 *
 * node missing-library.js folder|relay FOLDER
 */
import { register } from 'node:module';
import { systemClock } from '@sealwright/runtime';
import { createMailFolder } from '../../../../actors/portal/mails/mail-folder.ts';
import type { Mailer, MailFailure, OutgoingMail } from '../../../../actors/portal/mails/mail-port.ts';
import { createSmtpMailer } from '../../../../actors/portal/mails/smtp.ts';

const HOOK = `let isAway = true;
export function resolve(name, context, next) {
  if (name !== 'nodemailer' || !isAway) return next(name, context);
  isAway = false;
  throw new Error('the library is away');
}`;
register(`data:text/javascript,${encodeURIComponent(HOOK)}`);

const MAIL: OutgoingMail = {
  messageId: 'id@portal.example.test',
  from: { name: 'Acme', address: 'no-reply@portal.example.test' },
  replyTo: null,
  to: { name: 'Ana', address: 'ana@example.test' },
  subject: 'Hello',
  text: 'Hello',
  html: '<p>Hello</p>',
  language: 'en',
  date: Date.UTC(2030, 0, 31),
};

const [kind, folder = ''] = process.argv.slice(2);
// Nobody listens on port 1.
const mailer: Mailer =
  kind === 'folder'
    ? createMailFolder(folder, { clock: systemClock, keep: 86_400_000 })
    : createSmtpMailer({ host: '127.0.0.1', port: 1, secure: false, name: 'a.test', clock: systemClock });
for (let sent = 0; sent < 2; sent += 1)
  try {
    console.log(await mailer.send(MAIL, new AbortController().signal));
  } catch (error) {
    const { code, permanent, message } = error as MailFailure;
    console.log(`${code} ${permanent ? 'given up' : 'retried'} ${message}`);
  }
mailer.close();
