/** Mail to pending participants before a document expires. Source: docs/decisions/0121-scheduled-reminders.md. */
import { type MailDocument, type MailTextOf, unlessNull } from './mail-texts.ts';

export const EXPIRING: MailTextOf<MailDocument> = {
  en: ({ document, organization, role, description, expires }) => ({
    subject: `Expires soon: ${document}`,
    paragraphs: [
      `${organization} asks you to ${role} the document "${document}".`,
      ...unlessNull(expires, (day) => `The document expires at the end of ${day} (UTC).`),
      ...unlessNull(description, (text) => `Note from the sender: ${text}`),
    ],
    button: role === 'sign' ? 'Open and sign' : 'Open and approve',
  }),
  pt: ({ document, organization, role, description, expires }) => ({
    subject: `Prazo próximo do fim: ${document}`,
    paragraphs: [
      role === 'sign'
        ? `${organization} solicita que você assine o documento "${document}".`
        : `${organization} solicita que você aprove o documento "${document}".`,
      ...unlessNull(expires, (day) => `O documento expira no fim do dia ${day} (UTC).`),
      ...unlessNull(description, (text) => `Observação de quem enviou: ${text}`),
    ],
    button: role === 'sign' ? 'Abrir e assinar' : 'Abrir e aprovar',
  }),
  es: ({ document, organization, role, description, expires }) => ({
    subject: `Vence pronto: ${document}`,
    paragraphs: [
      role === 'sign'
        ? `${organization} le pide que firme el documento "${document}".`
        : `${organization} le pide que apruebe el documento "${document}".`,
      ...unlessNull(expires, (day) => `El documento vence al final del día ${day} (UTC).`),
      ...unlessNull(description, (text) => `Nota del remitente: ${text}`),
    ],
    button: role === 'sign' ? 'Abrir y firmar' : 'Abrir y aprobar',
  }),
};
