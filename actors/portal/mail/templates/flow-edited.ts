/** Mail about a change of the signers or their order. */
import type { MailDocument, MailTextOf } from './mail-texts.ts';

export const FLOW_EDITED: MailTextOf<MailDocument> = {
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
