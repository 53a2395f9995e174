/** Mail after all participants have signed or approved. */
import type { MailDocument, MailTextOf } from './mail-texts.ts';

export const CONCLUDED: MailTextOf<MailDocument> = {
  en: ({ document, organization }) => ({
    subject: `Completed: ${document}`,
    paragraphs: [
      `The document "${document}" of ${organization} is complete: everybody has signed or approved it.`,
    ],
    button: 'See the signatures',
  }),
  pt: ({ document, organization }) => ({
    subject: `Concluído: ${document}`,
    paragraphs: [
      `O documento "${document}" de ${organization} está concluído: todas as pessoas assinaram ou aprovaram.`,
    ],
    button: 'Ver as assinaturas',
  }),
  es: ({ document, organization }) => ({
    subject: `Completado: ${document}`,
    paragraphs: [
      `El documento "${document}" de ${organization} está completo: todas las personas lo firmaron o aprobaron.`,
    ],
    button: 'Ver las firmas',
  }),
};
