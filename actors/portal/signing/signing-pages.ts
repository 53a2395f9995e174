/**
 * The pages of participants and observers, and the files that they read there. Source: docs/portal-values.md §9.
 */
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { actionMail } from '../../../machines/portal/documents/document-notifications.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { documentType, type Participant } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { RequestOrigin, Tenant, Tenants } from '../api/callers.ts';
import type { SigningPageView } from '../api/signing.ts';
import { foldedKey } from '../document-records/document-index.ts';
import { participantPrincipal, recordAction } from '../document-records/document-messages.ts';
import {
  type DocumentDirectory,
  documentByKey,
  hasSignature,
  type ReadDocument,
} from '../document-records/document-reader.ts';
import { isAskedByMail, namedTurn, pageState, pendingTurn } from '../document-records/signing-turns.ts';
import { createMail } from '../mails/mails.ts';
import type { SigningLinks, SigningTicket } from '../mails/signing-links.ts';
import { attachmentFile, publicAttachments } from '../renditions/attachments.ts';
import { signedName } from '../renditions/rendition-rules.ts';
import type { Renditions } from '../renditions/renditions.ts';
import { derivedId } from '../shared/effect-ids.ts';
import type { Blobs, StoredFile } from '../uploads/blobs.ts';
import { type Authenticators, appOwner } from './authenticators.ts';
import type { FirstPages } from './first-pages.ts';
import { observedDocument, observerPage } from './observer-access.ts';
import { lookOf, pageAction, pageDocument, pageParticipants, returnOf } from './page-views.ts';
import { signingCall } from './signing-access.ts';
import { codesToAsk } from './signing-codes.ts';
import { visitOf } from './visits.ts';

/** Time is divided into intervals of this length, milliseconds; a participant gets at most one new link in each. */
const NEW_LINK_INTERVAL_MS = 15 * 60_000;

/** True for a link that was mailed; an application that issued a link issues the next one. */
function isMailed(
  { application }: Pick<SigningTicket, 'application'>,
  { user }: { readonly user: Participant },
): boolean {
  return application === null && user.email !== null;
}

/**
 * Mails a new link in place of an expired one, to the address in the flow. Refusals: `InvalidTicket` for a link that is not
 * expired or was not mailed, and when it is not the participant's turn.
 */
async function mailNewLink(
  runtime: ServiceRuntime,
  directory: DocumentDirectory,
  { links, key, text }: { readonly links: SigningLinks; readonly key: string; readonly text: string },
): Promise<void> {
  const ticket = links.parse(text);
  const document = ticket && (await directory.byId(ticket.documentId));
  if (!ticket?.expired || !document || document.context.key !== foldedKey(key))
    throw new PortalRefusal('InvalidTicket');
  const { context } = document;
  const named = namedTurn(context, ticket);
  if (named === undefined || !isMailed(ticket, named) || pageState(document, ticket) !== 'ready')
    throw new PortalRefusal('InvalidTicket');
  await mailLink(runtime, context, named);
}

/** Does nothing when one was mailed in the same interval. */
async function mailLink(
  { actors, clock }: Pick<ServiceRuntime, 'actors' | 'clock'>,
  context: DocumentContext,
  { action, user }: NonNullable<ReturnType<typeof namedTurn>>,
): Promise<void> {
  const now = clock.now();
  // The id permits one mail in each interval, also after a restart.
  const interval = Math.floor(now / NEW_LINK_INTERVAL_MS);
  const id = derivedId('new-link', context.id, action.id, user.id, interval);
  for (const content of actionMail(context, user, action, 'pending'))
    await createMail(actors, id, { organizationId: context.organization.id, content, at: now });
}

/** The page of a person before a device: nothing is left for the next one. */
function afterHere(
  state: SigningPageView['state'],
  { branding, language }: Pick<SigningPageView, 'branding' | 'language'>,
): SigningPageView {
  const hasActed = state === 'processing' || state === 'done' || state === 'concluded';
  return {
    state: hasActed ? 'signed-here' : 'left-here',
    embedOrigins: [],
    branding,
    ...(language && { language }),
  };
}

/** The file whose first page is shown, and for whom. */
function drawn({ id, current, organization }: DocumentContext): Parameters<FirstPages['of']> {
  return [current, { documentId: id, organization: organization.id }];
}

/** States in which the page begins with the document. */
const READING: ReadonlySet<SigningPageView['state']> = new Set(['ready', 'observing']);

type PageProviders = NonNullable<NonNullable<SigningPageView['action']>['providers']>;

/** Files that a participant may download after a signature. */
type ParticipantDownload = 'Signatures' | 'SignaturesManifest';

export class SigningPages {
  constructor(
    private readonly needs: {
      readonly runtime: ServiceRuntime;
      readonly blobs: Blobs;
      readonly directory: DocumentDirectory;
      readonly links: SigningLinks;
      readonly tenants: Pick<Tenants, 'embedOrigins' | 'replyTo'>;
      readonly contents: Pick<Renditions, 'fileOf'>;
      readonly authenticators: Authenticators;
      readonly firstPages: FirstPages;
      /** Least qualification that an organization demands; null = none. */
      readonly qualificationOf: (
        organization: DocumentContext['organization']['id'],
      ) => Promise<string | null>;
      readonly providerSigning: { offered(organization: Tenant['organization']): Promise<PageProviders> };
    },
  ) {}

  /** Of a participant or an observer. Read-only for all callers. @param asked for the first page only where it is shown first */
  async page(
    key: string,
    text: string,
    origin: RequestOrigin,
    asked: { readonly firstPage: boolean } = { firstPage: false },
  ): Promise<SigningPageView> {
    const view = await this.#viewOf(key, text, origin);
    if (!asked.firstPage) return view;
    const { document: shown, state, isLinkOver } = view;
    if (shown?.mimeType !== 'application/pdf' || !READING.has(state) || isLinkOver === true) return view;
    const found = await this.needs.directory.byId(shown.id);
    const first = found && (await this.needs.firstPages.of(...drawn(found.context)));
    if (first === undefined) return view;
    // A picture of the page has what is covered before the signature.
    const isCovered = (shown.covers ?? []).length > 0;
    return {
      ...view,
      document: { ...shown, firstPage: { ...first, ...(isCovered && { picture: 'none' }) } },
    };
  }

  /** The first page as an SVG in Brotli. Refusals: those of `pageContent`; `NotFound` without one. */
  async pagePicture(key: string, ticket: string): Promise<Uint8Array> {
    const { context } = await this.#readable(key, ticket);
    const isPdf = documentType(context) === 'application/pdf';
    const picture = isPdf ? await this.needs.firstPages.pictureOf(...drawn(context)) : undefined;
    if (picture === undefined) throw new PortalRefusal('NotFound', 'The document has no picture.');
    return picture;
  }

  async #viewOf(key: string, text: string, origin: RequestOrigin): Promise<SigningPageView> {
    const { links, directory, tenants, runtime } = this.needs;
    if (links.parseObserver(text) !== undefined)
      return observerPage(this.needs.runtime.actors, this.needs.directory, {
        links: this.needs.links,
        tenants: this.needs.tenants,
        key,
        text,
      });
    const ticket = links.parse(text);
    const document = ticket && (await directory.byId(ticket.documentId));
    if (!ticket || !document || document.context.key !== foldedKey(key)) return this.#incompleteLink(key);
    const { context } = document;
    const embedOrigins = await tenants.embedOrigins(context.organization.id);
    const state = pageState(document, ticket);
    const named = namedTurn(context, ticket);
    const shown = pageDocument(document);
    const about = {
      ...(await lookOf(runtime.actors, context.organization, returnOf(context, named))),
      replyTo: await tenants.replyTo(context.organization.id),
      contact: shown.senderName ?? shown.organizationName,
      ...(named?.user.language && { language: named.user.language }),
    };
    if (ticket.isHere && (state !== 'ready' || ticket.expired || !(await directory.isBeforeDevice(context))))
      return afterHere(state, about);
    // The person of the link is not in the flow any more, and learns no later name of the document.
    if (state === 'unknown') {
      const action = context.actions.find(({ id }) => id === ticket.flowActionId);
      const isInFlow = action !== undefined;
      if (action?.passedOn?.some(({ userId }) => userId === ticket.userId) === true) {
        const { user } = action;
        return { state: 'passed-on', heldBy: user?.name ?? '', embedOrigins, ...about };
      }
      return { state: isInFlow ? 'replaced' : 'removed', embedOrigins, ...about };
    }
    // Reports a completed action before an expired ticket.
    if (ticket.expired && (state === 'ready' || state === 'waiting-for-turn')) {
      const canRequestLink = state === 'ready' && named !== undefined && isMailed(ticket, named);
      return { state: 'ticket-expired', canRequestLink, embedOrigins, ...about, document: shown };
    }
    if (state === 'deleted') return { state, embedOrigins, ...about };
    return {
      state,
      embedOrigins,
      ...about,
      document: shown,
      isLinkOver: ticket.expired,
      ...(ticket.isHere && { isHere: true }),
      ...(named && {
        action: {
          ...(await this.#action(context, named, ticket.needsEmailCode, state)),
          providers: ticket.isHere ? [] : await this.needs.providerSigning.offered(context.organization),
        },
      }),
      participants: pageParticipants(context, ticket),
      ...(named?.user.email &&
        isMailed(ticket, named) &&
        !ticket.expired && {
          visit: await visitOf(runtime.store, directory, {
            links,
            sent: context,
            visitor: {
              name: named.user.name,
              identifier: named.user.identifier,
              email: named.user.email,
              ticket,
              origin,
              now: runtime.clock.now(),
            },
          }),
        }),
    };
  }

  /** Names whom to ask: the organization of the document, as everybody with its key is told. */
  async #incompleteLink(key: string): Promise<SigningPageView> {
    const nothing = { state: 'unknown', embedOrigins: [] } as const;
    const { directory, runtime, tenants } = this.needs;
    const found = await documentByKey(directory, undefined, key).catch(() => undefined);
    if (found === undefined) return nothing;
    const { organization } = found.context;
    const { branding } = await lookOf(runtime.actors, organization);
    const replyTo = await tenants.replyTo(organization.id);
    return { ...nothing, branding, replyTo, contact: organization.name };
  }

  async #action(
    context: DocumentContext,
    given: NonNullable<ReturnType<typeof namedTurn>>,
    needsEmailCode: boolean,
    state: SigningPageView['state'],
  ): Promise<NonNullable<SigningPageView['action']>> {
    const { authenticators, qualificationOf } = this.needs;
    const isDemanding = (await qualificationOf(context.organization.id)) !== null;
    const { action } = given;
    const named = isDemanding ? { ...given, action: { ...action, allowElectronicSignature: false } } : given;
    const codes = await codesToAsk({ context, ...named, needsEmailCode }, authenticators);
    const owner = appOwner(context, named.user);
    if (state !== 'ready' || owner === undefined) return pageAction(named, context, codes, {});
    const { name } = context.organization;
    if (codes.includes('AuthenticatorApp') && !(await authenticators.has(owner)))
      return pageAction(named, context, codes, { enrolment: authenticators.enrolment(owner, name) });
    const asksMail = codes.includes('Email');
    // Others were wrong too often: beside a mailed code, that of the app counts all the same.
    if (codes.includes('AuthenticatorApp') && !asksMail && (await authenticators.isLocked(owner)))
      return pageAction(named, context, ['Email', ...codes], {});
    const passkey = asksMail ? await authenticators.passkeys(owner) : undefined;
    return pageAction(named, context, codes, { ...(passkey !== undefined && { passkey }) });
  }

  /**
   * Mails the participant of an expired link a new one, to the address in the flow and at most once in
   * `NEW_LINK_INTERVAL_MS`. Refusals: `InvalidTicket`, also for a link that was not mailed.
   */
  requestLink(key: string, ticket: string): Promise<void> {
    return mailNewLink(this.needs.runtime, this.needs.directory, {
      links: this.needs.links,
      key,
      text: ticket,
    });
  }

  /**
   * Mails a new link if something of the document waits for the address, and if its participants get mails. Nothing tells
   * whether that is so: the caller is not to wait.
   */
  async requestLinkTo(key: string, emailAddress: string): Promise<void> {
    const { directory, runtime } = this.needs;
    try {
      const document = await documentByKey(directory, undefined, key);
      const { context, state } = document;
      const turn = pendingTurn(context, { emailAddress });
      const named = turn && namedTurn(context, turn);
      if (named !== undefined && isAskedByMail(context, named) && state === 'Pending')
        await mailLink(runtime, context, named);
    } catch (error) {
      // Of nobody: there is no document with the key.
      if (!(error instanceof PortalRefusal))
        runtime.log.warn('A new link was not mailed.', { error: String(error) });
    }
  }

  /** An attachment that is not private. Refusals: `InvalidTicket`, `AttachmentNotFound`. */
  async pageAttachment(key: string, ticket: string, attachmentId: string): Promise<StoredFile> {
    const { context } = await this.#readable(key, ticket);
    return attachmentFile(this.needs.blobs, publicAttachments(context.attachments), attachmentId);
  }

  /** The file to show: the newest version. Refusals: `InvalidTicket`; for observers also of documents that ended without conclusion. */
  async pageContent(key: string, ticket: string): Promise<StoredFile> {
    const { context } = await this.#readable(key, ticket);
    const { current, file, format, signatures } = context;
    const isSigned = signatures === null && hasSignature(context);
    const { fileName } = isSigned ? signedName(file.name, format) : { fileName: file.name };
    return this.needs.blobs.file(current, fileName, documentType(context));
  }

  /**
   * The signed file or the signature manifest; the download is recorded in the history. Refusals: `InvalidTicket`,
   * `DocumentHasNoSignatures`, `DownloadTypeNotAvailable`.
   */
  async pageDownload(
    key: string,
    ticket: string,
    type: ParticipantDownload,
    origin: RequestOrigin,
  ): Promise<StoredFile> {
    const call = await this.#readable(key, ticket);
    if (call.isObserver && call.state !== 'Concluded') throw new PortalRefusal('DownloadTypeNotAvailable');
    const file = await this.needs.contents.fileOf(call, type);
    const principal = participantPrincipal(call.user, origin);
    await recordAction(this.needs.runtime, call, { action: 'downloaded', principal, detail: type });
    return file;
  }

  /** The document of a participant's or an observer's ticket, to read. Refusals: those of `signingCall`. */
  async #readable(
    key: string,
    ticket: string,
  ): Promise<ReadDocument & { readonly user: Participant; readonly isObserver: boolean }> {
    const observed = await observedDocument(this.needs.directory, this.needs.links, key, ticket);
    if (observed !== undefined) return { ...observed, isObserver: true };
    const call = await signingCall({ by: 'ticket', key, ticket }, this.needs.directory, this.needs.links, {
      changes: false,
    });
    return { ...call, isObserver: false };
  }
}
