/** Mail that lists the pending documents of one person. Source: docs/portal-values.md §11, `notify-pending`. */
import type { MailTextOf } from './mail-texts.ts';

export interface PendingListInfo {
  readonly organization: string;
  readonly count: number;
}

export const PENDING_LIST: MailTextOf<PendingListInfo> = {
  en: ({ organization, count }) => ({
    subject:
      count === 1
        ? `A document of ${organization} waits for you`
        : `${count} documents of ${organization} wait for you`,
    paragraphs: [
      count === 1
        ? `${organization} waits for you to act on this document:`
        : `${organization} waits for you to act on these ${count} documents:`,
    ],
  }),
  pt: ({ organization, count }) => ({
    subject:
      count === 1
        ? `Um documento de ${organization} aguarda você`
        : `${count} documentos de ${organization} aguardam você`,
    paragraphs: [
      count === 1
        ? `${organization} aguarda a sua ação neste documento:`
        : `${organization} aguarda a sua ação nestes ${count} documentos:`,
    ],
  }),
  es: ({ organization, count }) => ({
    subject:
      count === 1
        ? `Un documento de ${organization} le espera`
        : `${count} documentos de ${organization} le esperan`,
    paragraphs: [
      count === 1
        ? `${organization} espera que actúe sobre este documento:`
        : `${organization} espera que actúe sobre estos ${count} documentos:`,
    ],
  }),
};
