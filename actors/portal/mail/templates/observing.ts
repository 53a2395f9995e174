/** A person may read a document on which others act. */
import { type MailDocument, type MailTextOf, unlessNull } from './mail-texts.ts';

export const OBSERVING: MailTextOf<MailDocument> = {
  en: ({ document, organization, description }) => ({
    subject: `For your information: ${document}`,
    paragraphs: [
      `${organization} shares the document "${document}" with you. Others act on it; you need to do nothing.`,
      ...unlessNull(description, (text) => `Note from the sender: ${text}`),
      'You need no account. The link shows the document and its current state.',
    ],
    button: 'Read the document',
  }),
  pt: ({ document, organization, description }) => ({
    subject: `Para seu conhecimento: ${document}`,
    paragraphs: [
      `${organization} compartilha com você o documento "${document}". Outras pessoas agem nele; você não precisa fazer nada.`,
      ...unlessNull(description, (text) => `Observação de quem enviou: ${text}`),
      'Não é preciso ter uma conta. O link mostra o documento e o seu andamento.',
    ],
    button: 'Ler o documento',
  }),
  es: ({ document, organization, description }) => ({
    subject: `Para su información: ${document}`,
    paragraphs: [
      `${organization} comparte con usted el documento "${document}". Otras personas actúan en él; usted no tiene que hacer nada.`,
      ...unlessNull(description, (text) => `Nota del remitente: ${text}`),
      'No necesita una cuenta. El enlace muestra el documento y su estado.',
    ],
    button: 'Leer el documento',
  }),
};
