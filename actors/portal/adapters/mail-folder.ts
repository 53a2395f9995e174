/**
 * Writes mails to a folder, for an installation without a relay: one `.eml` file each, which any mail program opens. A
 * file appears whole or not at all; a mail that is sent again takes the place of its first copy.
 *
 * Source: running.md, `Portal:Smtp:*`: "without it every e-mail is written to `mail/*.eml`".
 */
import { constants } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { describeFailure } from '../../../runtime/index.ts';
import { type Mailer, MailFailure, type OutgoingMail } from '../mail-port.ts';
import { mailMessage } from './mail-message.ts';

/** @param folder made when it is missing, for its owner alone: mails hold links and codes */
export function createMailFolder(folder: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      // Whole, as `buffer` asks for.
      const { message } = await transport.sendMail(mailMessage(mail));
      const name = fileName(mail);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeWhole(join(folder, name), message as Buffer);
      } catch (error) {
        const { code, message: reason } = describeFailure(error);
        throw new MailFailure('mail.folder', `${code}: ${reason}`, false);
      }
      return `Written to ${name}.`;
    },
    close: () => transport.close(),
  };
}

/** Sorts by time: `20260102T030405678Z-<message id up to the at sign>.eml`. */
function fileName({ date, messageId }: OutgoingMail): string {
  const time = new Date(date).toISOString().replaceAll(/[-:.]/g, '');
  const id = (messageId.split('@')[0] ?? '').replaceAll(/[^0-9A-Za-z-]/g, '');
  return `${time}-${id}.eml`;
}

async function writeWhole(path: string, content: Buffer): Promise<void> {
  const temporary = `${path}.part`;
  const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
