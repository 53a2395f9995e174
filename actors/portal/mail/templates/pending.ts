/** Mail about a pending action; also the reminder. Source: docs/portal-values.md §11. */
import { type MailDocument, type MailTextOf, unlessNull } from './mail-texts.ts';

export const PENDING: MailTextOf<MailDocument> = {
  en: ({ document, organization, role, description }) => ({
    subject: role === 'sign' ? `Please sign: ${document}` : `Please approve: ${document}`,
    paragraphs: [
      `${organization} asks you to ${role} the document "${document}".`,
      ...unlessNull(description, (text) => `Note from the sender: ${text}`),
      'You need no account. The link opens the document.',
    ],
    button: role === 'sign' ? 'Open and sign' : 'Open and approve',
  }),
  pt: ({ document, organization, role, description }) => ({
    subject: role === 'sign' ? `Assinatura solicitada: ${document}` : `Aprovação solicitada: ${document}`,
    paragraphs: [
      role === 'sign'
        ? `${organization} solicita que você assine o documento "${document}".`
        : `${organization} solicita que você aprove o documento "${document}".`,
      ...unlessNull(description, (text) => `Observação de quem enviou: ${text}`),
      'Não é preciso ter uma conta. O link abre o documento.',
    ],
    button: role === 'sign' ? 'Abrir e assinar' : 'Abrir e aprovar',
  }),
  es: ({ document, organization, role, description }) => ({
    subject: role === 'sign' ? `Firma solicitada: ${document}` : `Aprobación solicitada: ${document}`,
    paragraphs: [
      role === 'sign'
        ? `${organization} le pide que firme el documento "${document}".`
        : `${organization} le pide que apruebe el documento "${document}".`,
      ...unlessNull(description, (text) => `Nota del remitente: ${text}`),
      'No necesita una cuenta. El enlace abre el documento.',
    ],
    button: role === 'sign' ? 'Abrir y firmar' : 'Abrir y aprobar',
  }),
};
