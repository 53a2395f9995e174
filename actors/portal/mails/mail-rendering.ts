/** The letter that a mail is: its words, its link, its code, in the language of its organization. */

import { Fatal } from '@sealwright/runtime';
import { isolated, plainText } from '../../../contracts/plain-text.ts';
import type { BrandingSettings } from '../../../contracts/portal/branding.ts';
import type { Language, PhoneChannel } from '../../../contracts/portal/words.ts';
import { filled, formFor, TEXTS } from '../../../contracts/texts/texts.ts';
import { dayEndingAt } from '../../../contracts/times.ts';
import type { FlowActionId, UserId } from '../../../machines/ids.ts';
import { SIGN_IN_LIFETIME_MS } from '../../../machines/portal/accounts/sessions.ts';
import {
  CODE_DELIVERY_TIMEOUT_MS,
  type DeletionsMail,
  type DeputyMail,
  type MailboxCode,
  type MailContent,
  type PendingList,
  type SignInMail,
} from '../../../machines/portal/mail.ts';
import type { DocumentSummary, LinkedDocument, MailRequest } from '../../../machines/portal/portal-types.ts';
import type { MailBody } from './letter.ts';
import { oneLine } from './mail-port.ts';
import { type MailTexts, reworded } from './mail-wording.ts';

/** Absolute URLs of the links. */
export interface MailLinks {
  /** The page of one participant's action, with a ticket. */
  action(document: DocumentSummary, flowActionId: FlowActionId, userId: UserId): string;
  /** The page on which an observer reads the document, with a ticket. */
  observer(document: DocumentSummary, observerId: string, userId: UserId): string;
  /** The public check page of a validation key. */
  check(key: string, language?: Language): string;
  /** The page of all documents that wait for a mailbox. */
  waiting(language: Language): string;
  /** The page on which a user signs in once. */
  signIn(link: Pick<SignInMail, 'userId' | 'linkId' | 'expiresAt'>): string;
}

/** Source of the six digits, ten for `Mailbox`: derived, stored nowhere. */
export type CodeLookup = (
  flowActionId: FlowActionId,
  userId: UserId,
  generation: number,
  channel?: PhoneChannel | 'Mailbox',
) => string;

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

/** @throws {Fatal} `mail.incomplete`: a code is to be sent and the notice does not say which */
export function renderMail(content: MailContent, options: MailRenderingOptions): MailBody {
  if (content.about === 'sign-in') return signInMail(content, options);
  if (content.about === 'mailbox-code') return mailboxCodeMail(content, options);
  if (content.about === 'deputy') return deputyMail(content, options);
  if (content.about === 'deletions') return deletionsMail(content, options);
  return content.about === 'pending-list'
    ? pendingListMail(content, options)
    : documentMail(content, options);
}

/** Mail by which an administrator sees whether mails arrive. */
export function testMail(organization: MailRenderingOptions['organization'], name: string | null): MailBody {
  const words = textsOf(TEXTS[organization.language].mails.test, { organization: named(organization.name) });
  return framed(words, name, organization);
}

function signInMail(content: SignInMail, { organization, links }: MailRenderingOptions): MailBody {
  const facts = { organization: named(organization.name), minutes: String(SIGN_IN_LIFETIME_MS / 60_000) };
  const ours = textsOf(TEXTS[organization.language].mails['sign-in'], facts);
  const words = reworded(ours, organization.branding?.mailTexts['sign-in'], {
    ...facts,
    recipient: recipientOf(content),
  });
  return {
    ...framed(words, content.to.name, organization),
    button: { label: words.button ?? '', url: links.signIn(content) },
  };
}

function mailboxCodeMail(
  content: MailboxCode,
  { organization, codeFor }: Pick<MailRenderingOptions, 'organization' | 'codeFor'>,
): MailBody {
  const facts = { portal: named(organization.name), minutes: CODE_DELIVERY_TIMEOUT_MS / 60_000 };
  const words = textsOf(TEXTS[organization.language].mails['mailbox-code'], facts);
  return { ...framed(words, null, organization), code: codeOf(content, codeFor) };
}

function deputyMail(
  { what, person, deputy, from, until, documentName }: DeputyMail,
  { organization, links }: Pick<MailRenderingOptions, 'organization' | 'links'>,
): MailBody {
  const { language, name } = organization;
  const time = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  const words = textsOf(TEXTS[language].mails.deputy[what], {
    portal: named(name),
    person: named(person),
    deputy: deputy ? named(deputy) : null,
    from: time.format(from),
    until: time.format(until),
    document: documentName ? named(documentName) : null,
  });
  return {
    ...framed(words, null, organization),
    ...(what !== 'acted' && { button: waitingLink(organization, links) }),
  };
}

function deletionsMail(
  { to, names, count, from }: DeletionsMail,
  { organization }: Pick<MailRenderingOptions, 'organization'>,
): MailBody {
  const { language, name } = organization;
  const words = textsOf(TEXTS[language].mails.deletions, {
    organization: named(name),
    count: String(count),
    from: new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(from),
  });
  const left = count > names.length ? [`+${count - names.length}`] : [];
  const list = [...names.map(named), ...left].join('\n');
  return framed({ ...words, paragraphs: [...words.paragraphs, list] }, to.name, organization);
}

function documentMail(
  request: MailRequest,
  { organization, links, codeFor }: MailRenderingOptions,
): MailBody {
  const facts = documentInfo(request, organization);
  const wording = organization.branding?.mailTexts[request.about];
  const values = { ...facts, recipient: recipientOf(request) };
  const { mails } = TEXTS[organization.language];
  if (request.about === 'code') {
    const ours = textsOf(mails.code, { ...facts, minutes: CODE_DELIVERY_TIMEOUT_MS / 60_000 });
    const words = reworded(ours, wording, values);
    return { ...framed(words, request.to.name, organization), code: codeOf(request, codeFor) };
  }
  const about = request.about === 'reminder' ? 'pending' : request.about;
  const role = request.role ?? 'sign';
  const ours = about === 'pending' || about === 'expiring' ? mails[about][role] : mails[about];
  const words = reworded(textsOf(ours, facts), wording, values);
  const { language } = request.to;
  const url = linkOf(request, links, language);
  const all = [request, ...(request.others ?? [])];
  const items = all.flatMap((one) => {
    const itsUrl = linkOf({ ...one, about: request.about }, links, language);
    return itsUrl === undefined ? [] : [{ label: named(one.document.name), url: itsUrl }];
  });
  // A link of its own leads to the signed file, the public page to the signatures.
  const isOwn = request.flowActionId !== null || request.observerId !== undefined;
  const label = request.about === 'concluded' && isOwn ? mails.concluded.fileButton : words.button;
  return {
    ...framed(words, request.to.name, organization),
    ...(url !== undefined && label !== undefined && { button: { label, url } }),
    ...(all.length > 1 && { items }),
    ...((about === 'pending' || about === 'expiring') && { more: waitingLink(organization, links) }),
  };
}

function waitingLink(
  { language }: Pick<MailRenderingOptions['organization'], 'language'>,
  links: MailLinks,
): NonNullable<MailBody['more']> {
  return { label: TEXTS[language].pages.waiting.title, url: links.waiting(language) };
}

function recipientOf({ to: { name } }: Pick<MailRequest, 'to'>): string | null {
  return name && named(name);
}

function pendingListMail(
  { to, documents }: PendingList,
  { organization, links }: MailRenderingOptions,
): MailBody {
  const { language, name } = organization;
  const { mails } = TEXTS[language];
  const facts = { organization: named(name), count: String(documents.length) };
  const ours = textsOf(formFor(language, mails['pending-list'], documents.length), facts);
  const words = reworded(ours, organization.branding?.mailTexts['pending-list'], {
    ...facts,
    recipient: recipientOf({ to }),
  });
  return {
    ...framed(words, to.name, organization),
    items: documents.map(({ document, flowActionId, userId, role }) => ({
      label: `${named(document.name)} (${mails.roles[role]})`,
      url: links.action(document, flowActionId, userId),
    })),
    more: waitingLink(organization, links),
  };
}

/** Texts of a kind in the catalogue. Of alternative paragraphs the first is taken of which each value is given. */
interface Catalogued {
  readonly subject: string;
  readonly paragraphs: readonly (string | readonly string[])[];
  readonly button?: string;
}

type Facts = { readonly [name: string]: string | number | null };

/** A paragraph with a value that is not given is left out. */
function textsOf({ subject, paragraphs, button }: Catalogued, facts: Facts): MailTexts {
  const isGiven = (text: string) =>
    Object.entries(facts).every(
      ([name, value]) => (value !== null && value !== '') || !text.includes(`{${name}}`),
    );
  return {
    subject: filled(subject, facts),
    paragraphs: paragraphs.flatMap((paragraph) => {
      const text = [paragraph].flat().find(isGiven);
      return text === undefined ? [] : [filled(text, facts)];
    }),
    ...(button !== undefined && { button }),
  };
}

function framed(
  words: MailTexts,
  name: string | null,
  organization: MailRenderingOptions['organization'],
): MailBody {
  const { greeting, greetingWithoutName, footer } = TEXTS[organization.language].mails;
  return {
    subject: oneLine(words.subject),
    greeting: name ? filled(greeting, { name: named(name) }) : greetingWithoutName,
    paragraphs: words.paragraphs,
    footer: filled(footer, { organization: named(organization.name) }),
  };
}

function documentInfo(
  request: MailRequest,
  { name, language }: Pick<MailRenderingOptions['organization'], 'name' | 'language'>,
) {
  const { document, others = [] } = request;
  const { createdBy, description } = document;
  // A person may have to sign one of them twice.
  const documents = new Map([request, ...others].map((one) => [one.document.id, one.document]));
  const last = request.expirationDate === undefined ? null : dayEndingAt(request.expirationDate);
  return {
    document: namesOf([...documents.values()], language),
    count: documents.size === 1 ? null : String(documents.size),
    organization: named(name),
    sender: createdBy.type === 'User' && createdBy.name ? named(createdBy.name) : null,
    description: description && plainText(description),
    reason: request.reason ? plainText(request.reason) : null,
    expires:
      last && new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(last.day),
    zone: last?.zone ?? null,
    by: request.byName ? named(request.byName) : null,
  };
}

/** At most three names: they are a subject, too. */
function namesOf(documents: readonly DocumentSummary[], language: Language): string {
  const names = documents.map(({ name }) => named(name));
  if (names.length > 3) return `${names.slice(0, 2).join(', ')} +${names.length - 2}`;
  return new Intl.ListFormat(language).format(names);
}

/** A name inside of a sentence. */
function named(name: string): string {
  return isolated(oneLine(name));
}

function linkOf(
  { about, document, flowActionId, observerId, userId }: LinkedDocument & Pick<MailRequest, 'about'>,
  links: MailLinks,
  language: Language | undefined,
): string | undefined {
  if (flowActionId !== null && userId !== null) return links.action(document, flowActionId, userId);
  if (observerId !== undefined && userId !== null) return links.observer(document, observerId, userId);
  return about === 'concluded' ? links.check(document.key, language) : undefined;
}

/** @throws {Fatal} `mail.incomplete` */
export function codeOf(content: MailRequest | MailboxCode, codeFor: CodeLookup): string {
  const { flowActionId, userId, codeGeneration } = content;
  const channel =
    content.about === 'mailbox-code'
      ? 'Mailbox'
      : 'message' in content
        ? content.message?.channel
        : undefined;
  if (flowActionId === null || userId === null || codeGeneration === undefined) {
    throw new Fatal('mail.incomplete', 'The notice does not say which code is meant.');
  }
  return codeFor(flowActionId, userId, codeGeneration, channel);
}
