/**
 * Writes mails to a folder, for an installation without a relay: one `.eml` file each, which any mail program opens. A
 * file appears whole or not at all; a mail that is sent again takes the place of its first copy.
 *
 * Source: docs/configuration.md, `Portal:Smtp:*`.
 */
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, describeFailure } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';
import { mailMessage } from './mail-message.ts';
import { type Mailer, MailFailure } from './mail-port.ts';
import { readableMail, withoutTransferEncoding } from './mail-text.ts';

/** Interval of the removal of old mails, milliseconds. */
const CHECK_INTERVAL_MS = 3_600_000;

/**
 * @param folder made when it is missing, for its owner alone: mails hold links and codes
 * @param keep milliseconds; older mails are removed when others are written
 */
export function createMailFolder(
  folder: string,
  { clock, keep }: { readonly clock: Pick<Clock, 'now'>; readonly keep: number },
): Mailer {
  let looked = Number.NEGATIVE_INFINITY;
  const removeOld = async () => {
    const now = clock.now();
    if (now - looked < CHECK_INTERVAL_MS) return;
    looked = now;
    const before = timeText(now - keep);
    for (const name of await readdir(folder))
      if (NAME.test(name) && name < before) await rm(join(folder, name), { force: true });
  };
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  };
  let transport: ReturnType<typeof open> | undefined;
  return {
    async send(mail) {
      // Whole, as `buffer` asks for.
      transport ??= open().catch((error: unknown) => {
        // No fault of the mail, which waits: the library may be there again for the next try.
        transport = undefined;
        throw failureOf(error);
      });
      const { message } = await (await transport).sendMail(mailMessage(mail));
      const name = fileName(mail.messageId.split('@')[0] ?? '', mail.date);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeWhole(join(folder, name), withoutTransferEncoding(String(message)));
        await removeOld();
      } catch (error) {
        throw failureOf(error);
      }
      return `Written to ${name}.`;
    },
    async contentOf(id, date) {
      try {
        return readableMail(await readFile(join(folder, fileName(id, date)), 'utf8'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    hasContent: (id, date) =>
      access(join(folder, fileName(id, date))).then(
        () => true,
        () => false,
      ),
    remove: (id, date) => rm(join(folder, fileName(id, date)), { force: true }),
    close() {
      transport?.then(
        (opened) => opened.close(),
        () => {},
      );
    },
  };
}

function failureOf(error: unknown): MailFailure {
  const { code, message } = describeFailure(error);
  return new MailFailure('mail.folder', `${code}: ${message}`, false);
}

/** Sorts by time: `20260102T030405678Z-<message id up to the at sign>.eml`. */
function fileName(id: string, date: Millis): string {
  return `${timeText(date)}-${id.replaceAll(/[^0-9A-Za-z-]/g, '')}.eml`;
}

function timeText(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:.]/g, '');
}

/** Leaves files of other programs untouched. */
const NAME = /^\d{8}T\d{9}Z-[0-9A-Za-z-]*\.eml(?:\.part)?$/;

async function writeWhole(path: string, content: string): Promise<void> {
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
