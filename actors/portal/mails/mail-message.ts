/** Builds a message for the mail library. The result is the same for every attempt. */
import type Mail from 'nodemailer/lib/mailer';
import { LOGO_CONTENT_ID } from './letter.ts';
import type { OutgoingMail } from './mail-port.ts';

export function mailMessage(mail: OutgoingMail): Mail.Options {
  return {
    messageId: `<${mail.messageId}>`,
    // Given apart from the header, so that no name can add a recipient.
    envelope: { from: mail.from.address, to: [mail.to.address] },
    from: { name: mail.from.name, address: mail.from.address },
    to: { name: mail.to.name, address: mail.to.address },
    ...(mail.replyTo !== null && { replyTo: { name: '', address: mail.replyTo } }),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    ...(mail.logo !== undefined && {
      attachments: [
        {
          cid: LOGO_CONTENT_ID,
          filename: mail.logo.contentType === 'image/png' ? 'logo.png' : 'logo.jpg',
          contentType: mail.logo.contentType,
          contentDisposition: 'inline' as const,
          content: mail.logo.bytes,
        },
      ],
    }),
    date: new Date(mail.date),
    headers: {
      'Content-Language': mail.language,
      // No out-of-office answers, please. Source: RFC 3834 §5.
      'Auto-Submitted': 'auto-generated',
      // Not `All`, which also suppresses the report of a mail that cannot be delivered. Source: MS-OXCMAIL, X-Auto-Response-Suppress.
      'X-Auto-Response-Suppress': 'DR, RN, NRN, OOF, AutoReply',
    },
    baseBoundary: mail.messageId.replaceAll(/[^0-9A-Za-z]/g, ''),
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
