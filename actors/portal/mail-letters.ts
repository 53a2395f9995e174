/** Which letter a mail is: its words, its link, its code, in the language of its organization. */
import type { FlowActionId, UserId } from '../../machines/ids.ts';
import { type MailContent, PATIENCE_FOR_CODES, type PendingList } from '../../machines/mail.ts';
import type { Language } from '../../machines/organization.ts';
import { isolated, plainText } from '../../machines/plain-text.ts';
import type { DocumentSummary, Notice } from '../../machines/portal-words.ts';
import { Fatal } from '../../runtime/index.ts';
import { oneLine } from './mail-port.ts';
import { CANCELED } from './mail-texts/canceled.ts';
import { CODE } from './mail-texts/code.ts';
import { CONCLUDED } from './mail-texts/concluded.ts';
import { FLOW_EDITED } from './mail-texts/flow-edited.ts';
import { FRAME } from './mail-texts/frame.ts';
import type { Letter } from './mail-texts/letter.ts';
import { NEW_VERSION } from './mail-texts/new-version.ts';
import { PENDING } from './mail-texts/pending.ts';
import { PENDING_LIST } from './mail-texts/pending-list.ts';
import { REFUSED } from './mail-texts/refused.ts';
import type { DocumentFacts, MailText, Words } from './mail-texts/words.ts';

/** Where letters lead. The addresses are absolute. */
export interface MailLinks {
  /** The page of one participant's action, with a ticket. */
  action(document: DocumentSummary, flowActionId: FlowActionId, userId: UserId): string;
  /** The public check page of a validation key. */
  check(key: string): string;
}

/** Source of the six digits: derived, stored nowhere. */
export type CodeFor = (flowActionId: FlowActionId, userId: UserId, generation: number) => string;

export interface LetterParts {
  readonly organization: { readonly name: string; readonly language: Language };
  readonly links: MailLinks;
  readonly codeFor: CodeFor;
}

const TEXTS: { readonly [About in Exclude<Notice['about'], 'code'>]: MailText<DocumentFacts> } = {
  pending: PENDING,
  reminder: PENDING,
  concluded: CONCLUDED,
  refused: REFUSED,
  canceled: CANCELED,
  'new-version': NEW_VERSION,
  'flow-edited': FLOW_EDITED,
};

/** @throws {Fatal} `mail.incomplete`: a code is to be sent and the notice does not say which */
export function letterOf(content: MailContent, parts: LetterParts): Letter {
  return content.about === 'pending-list' ? listLetter(content, parts) : documentLetter(content, parts);
}

function documentLetter(notice: Notice, { organization, links, codeFor }: LetterParts): Letter {
  const facts = factsOf(notice, organization.name);
  if (notice.about === 'code') {
    const words = CODE[organization.language]({ ...facts, minutes: PATIENCE_FOR_CODES / 60_000 });
    return { ...framed(words, notice.to.name, organization), code: codeOf(notice, codeFor) };
  }
  const words = TEXTS[notice.about][organization.language](facts);
  const url = linkOf(notice, links);
  return {
    ...framed(words, notice.to.name, organization),
    ...(url !== undefined && words.button !== undefined && { button: { label: words.button, url } }),
  };
}

function listLetter({ to, documents }: PendingList, { organization, links }: LetterParts): Letter {
  const { language, name } = organization;
  const words = PENDING_LIST[language]({ organization: named(name), count: documents.length });
  return {
    ...framed(words, to.name, organization),
    items: documents.map(({ document, flowActionId, userId, role }) => ({
      label: `${named(document.name)} (${ROLE_WORDS[language][role]})`,
      url: links.action(document, flowActionId, userId),
    })),
  };
}

const ROLE_WORDS: { readonly [Each in Language]: { readonly sign: string; readonly approve: string } } = {
  en: { sign: 'to sign', approve: 'to approve' },
  pt: { sign: 'para assinar', approve: 'para aprovar' },
  es: { sign: 'para firmar', approve: 'para aprobar' },
};

function framed(words: Words, name: string | null, organization: LetterParts['organization']): Letter {
  const frame = FRAME[organization.language];
  return {
    subject: oneLine(words.subject),
    greeting: frame.greeting(name && named(name)),
    paragraphs: words.paragraphs,
    footer: frame.footer(named(organization.name)),
  };
}

function factsOf(notice: Notice, organization: string): DocumentFacts {
  return {
    document: named(notice.document.name),
    organization: named(organization),
    description: notice.document.description && plainText(notice.document.description),
    role: notice.role ?? 'sign',
    reason: notice.reason ? plainText(notice.reason) : null,
    by: notice.byName ? named(notice.byName) : null,
  };
}

/** A name inside of a sentence. */
function named(name: string): string {
  return isolated(oneLine(name));
}

function linkOf({ about, document, flowActionId, userId }: Notice, links: MailLinks): string | undefined {
  if (flowActionId !== null && userId !== null) return links.action(document, flowActionId, userId);
  return about === 'concluded' ? links.check(document.key) : undefined;
}

function codeOf({ flowActionId, userId, codeGeneration }: Notice, codeFor: CodeFor): string {
  if (flowActionId === null || userId === null || codeGeneration === undefined) {
    throw new Fatal('mail.incomplete', 'The notice does not say which code is meant.');
  }
  return codeFor(flowActionId, userId, codeGeneration);
}
