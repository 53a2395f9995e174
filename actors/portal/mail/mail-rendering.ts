/** The letter that a mail is: its words, its link, its code, in the language of its organization. */

import { isolated, plainText } from '../../../contracts/plain-text.ts';
import type { FlowActionId, UserId } from '../../../machines/ids.ts';
import type { BrandingSettings } from '../../../machines/portal/branding.ts';
import {
  CODE_DELIVERY_TIMEOUT_MS,
  type MailContent,
  type PendingList,
  type SignInMail,
} from '../../../machines/portal/mail.ts';
import type { Language } from '../../../machines/portal/organization.ts';
import type { DocumentSummary, MailRequest } from '../../../machines/portal/portal-types.ts';
import { SIGN_IN_LIFETIME_MS } from '../../../machines/portal/portal-user.ts';
import { Fatal } from '../../../runtime/index.ts';
import { oneLine } from './mail-port.ts';
import { reworded } from './mail-wording.ts';
import { CANCELED } from './templates/canceled.ts';
import { CODE } from './templates/code.ts';
import { CONCLUDED } from './templates/concluded.ts';
import { EXPIRING } from './templates/expiring.ts';
import { FLOW_EDITED } from './templates/flow-edited.ts';
import { FRAME } from './templates/frame.ts';
import type { MailBody } from './templates/letter.ts';
import type { MailDocument, MailTextOf, MailTexts } from './templates/mail-texts.ts';
import { NEW_VERSION } from './templates/new-version.ts';
import { OBSERVING } from './templates/observing.ts';
import { PENDING } from './templates/pending.ts';
import { PENDING_LIST } from './templates/pending-list.ts';
import { REFUSED } from './templates/refused.ts';
import { SIGN_IN } from './templates/sign-in.ts';
import { TEST } from './templates/test.ts';

/** Absolute URLs of the links. */
export interface MailLinks {
  /** The page of one participant's action, with a ticket. */
  action(document: DocumentSummary, flowActionId: FlowActionId, userId: UserId): string;
  /** The page on which an observer reads the document, with a ticket. */
  observer(document: DocumentSummary, observerId: string, userId: UserId): string;
  /** The public check page of a validation key. */
  check(key: string): string;
  /** The page on which a user signs in once. */
  signIn(link: Pick<SignInMail, 'userId' | 'linkId' | 'expiresAt'>): string;
}

/** Source of the six digits: derived, stored nowhere. */
export type CodeLookup = (flowActionId: FlowActionId, userId: UserId, generation: number) => string;

export interface MailRenderingOptions {
  readonly organization: {
    readonly name: string;
    readonly language: Language;
    /** Its own words; absent = none. */
    readonly branding?: Pick<BrandingSettings, 'mailTexts'>;
  };
  readonly links: MailLinks;
  readonly codeFor: CodeLookup;
}

const TEXTS: { readonly [About in Exclude<MailRequest['about'], 'code'>]: MailTextOf<MailDocument> } = {
  pending: PENDING,
  reminder: PENDING,
  expiring: EXPIRING,
  concluded: CONCLUDED,
  refused: REFUSED,
  canceled: CANCELED,
  'new-version': NEW_VERSION,
  'flow-edited': FLOW_EDITED,
  observing: OBSERVING,
};

/** @throws {Fatal} `mail.incomplete`: a code is to be sent and the notice does not say which */
export function renderMail(content: MailContent, options: MailRenderingOptions): MailBody {
  if (content.about === 'sign-in') return signInMail(content, options);
  return content.about === 'pending-list'
    ? pendingListMail(content, options)
    : documentMail(content, options);
}

/** Mail by which an administrator sees whether mails arrive. */
export function testMail(organization: MailRenderingOptions['organization'], name: string | null): MailBody {
  return framed(TEST[organization.language]({ organization: named(organization.name) }), name, organization);
}

function signInMail(content: SignInMail, { organization, links }: MailRenderingOptions): MailBody {
  const facts = { organization: named(organization.name), minutes: SIGN_IN_LIFETIME_MS / 60_000 };
  const ours = SIGN_IN[organization.language](facts);
  const words = reworded(ours, organization.branding?.mailTexts['sign-in'], {
    ...{ organization: facts.organization, minutes: String(facts.minutes) },
    recipient: recipientOf(content),
  });
  return {
    ...framed(words, content.to.name, organization),
    button: { label: words.button ?? '', url: links.signIn(content) },
  };
}

function documentMail(
  request: MailRequest,
  { organization, links, codeFor }: MailRenderingOptions,
): MailBody {
  const facts = documentInfo(request, organization.name);
  const wording = organization.branding?.mailTexts[request.about];
  const values = { ...facts, recipient: recipientOf(request) };
  if (request.about === 'code') {
    const ours = CODE[organization.language]({ ...facts, minutes: CODE_DELIVERY_TIMEOUT_MS / 60_000 });
    const words = reworded(ours, wording, values);
    return { ...framed(words, request.to.name, organization), code: codeOf(request, codeFor) };
  }
  const words = reworded(TEXTS[request.about][organization.language](facts), wording, values);
  const url = linkOf(request, links);
  return {
    ...framed(words, request.to.name, organization),
    ...(url !== undefined && words.button !== undefined && { button: { label: words.button, url } }),
  };
}

function recipientOf({ to: { name } }: Pick<MailRequest, 'to'>): string | null {
  return name && named(name);
}

function pendingListMail(
  { to, documents }: PendingList,
  { organization, links }: MailRenderingOptions,
): MailBody {
  const { language, name } = organization;
  const facts = { organization: named(name), count: documents.length };
  const words = reworded(PENDING_LIST[language](facts), organization.branding?.mailTexts['pending-list'], {
    ...{ organization: facts.organization, count: String(facts.count) },
    recipient: recipientOf({ to }),
  });
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

function framed(
  words: MailTexts,
  name: string | null,
  organization: MailRenderingOptions['organization'],
): MailBody {
  const frame = FRAME[organization.language];
  return {
    subject: oneLine(words.subject),
    greeting: frame.greeting(name && named(name)),
    paragraphs: words.paragraphs,
    footer: frame.footer(named(organization.name)),
  };
}

function documentInfo(request: MailRequest, organization: string): MailDocument {
  return {
    document: named(request.document.name),
    organization: named(organization),
    description: request.document.description && plainText(request.document.description),
    role: request.role ?? 'sign',
    reason: request.reason ? plainText(request.reason) : null,
    expires:
      request.expirationDate === undefined
        ? null
        : new Date(request.expirationDate).toISOString().slice(0, 10),
    by: request.byName ? named(request.byName) : null,
  };
}

/** A name inside of a sentence. */
function named(name: string): string {
  return isolated(oneLine(name));
}

function linkOf(
  { about, document, flowActionId, observerId, userId }: MailRequest,
  links: MailLinks,
): string | undefined {
  if (flowActionId !== null && userId !== null) return links.action(document, flowActionId, userId);
  if (observerId !== undefined && userId !== null) return links.observer(document, observerId, userId);
  return about === 'concluded' ? links.check(document.key) : undefined;
}

function codeOf({ flowActionId, userId, codeGeneration }: MailRequest, codeFor: CodeLookup): string {
  if (flowActionId === null || userId === null || codeGeneration === undefined) {
    throw new Fatal('mail.incomplete', 'The notice does not say which code is meant.');
  }
  return codeFor(flowActionId, userId, codeGeneration);
}
