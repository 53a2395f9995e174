/** Somebody refused; the flow is paused. */
import { type MailDocument, type MailTextOf, unlessNull } from './mail-texts.ts';

export const REFUSED: MailTextOf<MailDocument> = {
  en: ({ document, organization, by, reason }) => ({
    subject: `Refused: ${document}`,
    paragraphs: [
      by === null
        ? `The document "${document}" of ${organization} was refused.`
        : `${by} refused the document "${document}" of ${organization}.`,
      ...unlessNull(reason, (text) => `Reason given: ${text}`),
      'Nobody needs to do anything until there is a new version.',
    ],
    button: 'Open the document',
  }),
  pt: ({ document, organization, by, reason }) => ({
    subject: `Recusado: ${document}`,
    paragraphs: [
      by === null
        ? `O documento "${document}" de ${organization} foi recusado.`
        : `${by} recusou o documento "${document}" de ${organization}.`,
      ...unlessNull(reason, (text) => `Motivo informado: ${text}`),
      'Nada precisa ser feito até que haja uma nova versão.',
    ],
    button: 'Abrir o documento',
  }),
  es: ({ document, organization, by, reason }) => ({
    subject: `Rechazado: ${document}`,
    paragraphs: [
      by === null
        ? `El documento "${document}" de ${organization} fue rechazado.`
        : `${by} rechazó el documento "${document}" de ${organization}.`,
      ...unlessNull(reason, (text) => `Motivo indicado: ${text}`),
      'No hace falta hacer nada hasta que haya una nueva versión.',
    ],
    button: 'Abrir el documento',
  }),
};
