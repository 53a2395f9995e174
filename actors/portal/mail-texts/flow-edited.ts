/** Who has to sign, or in which order, was changed. */
import type { DocumentFacts, MailText } from './words.ts';

export const FLOW_EDITED: MailText<DocumentFacts> = {
  en: ({ document, organization }) => ({
    subject: `Participants changed: ${document}`,
    paragraphs: [`${organization} changed who takes part in signing the document "${document}".`],
    button: 'Open the document',
  }),
  pt: ({ document, organization }) => ({
    subject: `Participantes alterados: ${document}`,
    paragraphs: [`${organization} alterou os participantes da assinatura do documento "${document}".`],
    button: 'Abrir o documento',
  }),
  es: ({ document, organization }) => ({
    subject: `Participantes modificados: ${document}`,
    paragraphs: [`${organization} modificó los participantes de la firma del documento "${document}".`],
    button: 'Abrir el documento',
  }),
};
