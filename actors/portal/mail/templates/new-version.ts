/** The file was replaced and the flow begins anew. */
import type { MailDocument, MailTextOf } from './mail-texts.ts';

export const NEW_VERSION: MailTextOf<MailDocument> = {
  en: ({ document, organization }) => ({
    subject: `New version: ${document}`,
    paragraphs: [
      `${organization} replaced the document "${document}" by a new version.`,
      'Earlier signatures no longer count; signing begins anew.',
    ],
    button: 'Open the document',
  }),
  pt: ({ document, organization }) => ({
    subject: `Nova versão: ${document}`,
    paragraphs: [
      `${organization} substituiu o documento "${document}" por uma nova versão.`,
      'As assinaturas anteriores deixam de valer; o processo de assinatura recomeça.',
    ],
    button: 'Abrir o documento',
  }),
  es: ({ document, organization }) => ({
    subject: `Nueva versión: ${document}`,
    paragraphs: [
      `${organization} sustituyó el documento "${document}" por una nueva versión.`,
      'Las firmas anteriores ya no cuentan; el proceso de firma comienza de nuevo.',
    ],
    button: 'Abrir el documento',
  }),
};
