/** The document was canceled for good. */
import { type MailDocument, type MailTextOf, unlessNull } from './mail-texts.ts';

export const CANCELED: MailTextOf<MailDocument> = {
  en: ({ document, organization, by, reason }) => ({
    subject: `Canceled: ${document}`,
    paragraphs: [
      by === null
        ? `The document "${document}" of ${organization} was canceled.`
        : `${by} canceled the document "${document}" of ${organization}.`,
      ...unlessNull(reason, (text) => `Reason given: ${text}`),
      'There is nothing left to do.',
    ],
    button: 'Open the document',
  }),
  pt: ({ document, organization, by, reason }) => ({
    subject: `Cancelado: ${document}`,
    paragraphs: [
      by === null
        ? `O documento "${document}" de ${organization} foi cancelado.`
        : `${by} cancelou o documento "${document}" de ${organization}.`,
      ...unlessNull(reason, (text) => `Motivo informado: ${text}`),
      'Não há mais nada a fazer.',
    ],
    button: 'Abrir o documento',
  }),
  es: ({ document, organization, by, reason }) => ({
    subject: `Cancelado: ${document}`,
    paragraphs: [
      by === null
        ? `El documento "${document}" de ${organization} fue cancelado.`
        : `${by} canceló el documento "${document}" de ${organization}.`,
      ...unlessNull(reason, (text) => `Motivo indicado: ${text}`),
      'No queda nada por hacer.',
    ],
    button: 'Abrir el documento',
  }),
};
