/**
 * Visits to links for anybody. A person is an address or a number at one link; the actor of that person takes one visit at a
 * time, and its effect makes the document.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import { accepted, Fatal } from '@sealwright/runtime';
import { senderFields } from '../../../contracts/portal/flow.ts';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import type {
  PublicLinkCode,
  PublicLinkPage,
  PublicLinkVisit,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import type { LinkVisit, LinkVisitorContext } from '../../../machines/portal/link-visitor.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { devicesOf, type PublicLinkContext, publicLinkStatus } from '../../../machines/portal/public-link.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { StepWaits } from '../../shared/coordination/step-waits.ts';
import { type OwnerNeeds, ownerOf } from '../accounts/link-owners.ts';
import type { Tenant } from '../api/callers.ts';
import { pageLookOf } from '../branding/branding.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import type { Templates } from '../generations/templates.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import { LINK_VISITOR } from '../shared/link-records.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import { busyUnlessMade } from '../shared/records.ts';
import type { SigningCodes } from '../signing/signing-codes.ts';
import { assertTaken, countCode } from './link-limits.ts';
import {
  assertAsked,
  beginsAlone,
  hashOf,
  holderOf,
  leaveDocument,
  shownField,
  shownState,
  turnOf,
  type Visitor,
  visitorHere,
  visitorOf,
} from './link-visitors.ts';
import { actionsOf, type Linked, type PublicLinks } from './public-links.ts';

/** Least time between two codes to one address or number, milliseconds. */
const CODE_PAUSE_MS = 60_000;
/** A request waits so long for the document, milliseconds. */
const WAIT_MS = 20_000;
/** Calls for one person at the same time that start anew because another one was first. */
const ATTEMPTS = 3;

/** Outcomes of visits, for operators. */
export const VISIT_OUTCOMES = [
  'made',
  'repeated',
  'resumed',
  'closed',
  'wrong-code',
  'person-full',
  'refused',
] as const;
type VisitOutcome = (typeof VISIT_OUTCOMES)[number];

const REFUSED_OUTCOMES: { readonly [code in PortalRefusalCode]?: VisitOutcome } = {
  PublicLinkNotFound: 'closed',
  PublicLinkEnded: 'closed',
  PublicLinkExpired: 'closed',
  PublicLinkFull: 'closed',
  InvalidAuthenticationCode: 'wrong-code',
  TooManyWrongCodes: 'wrong-code',
  PublicLinkPersonFull: 'person-full',
};

interface VisitAnswer {
  readonly documentId: DocumentId;
  readonly url: string;
}

/** Those of the exact address or number, oldest first. */
function ownDocuments(context: LinkVisitorContext | undefined, visitor: Visitor) {
  return (context?.documents ?? []).filter(({ person }) => person === visitor.person);
}

/** Undefined for what names no person. */
function visitorIn(found: Linked, given: Parameters<typeof visitorOf>[1]): Visitor | undefined {
  try {
    return visitorOf(found, given);
  } catch (error) {
    if (error instanceof PortalRefusal) return undefined;
    throw error;
  }
}

export class LinkVisits {
  constructor(
    private readonly needs: OwnerNeeds & {
      readonly runtime: ServiceRuntime;
      readonly publicLinks: Pick<PublicLinks, 'ofTicket' | 'read'>;
      readonly templates: Templates;
      readonly creation: Parameters<typeof assertTaken>[0]['creation'];
      readonly codes: SigningCodes;
      readonly links: SigningLinks;
      readonly waits: StepWaits;
      /** Called with what became of each visit. */
      readonly onVisit?: ((outcome: VisitOutcome) => void) | undefined;
    },
  ) {}

  /** Resolves for the ticket of a link, in any state. Refusals: `PublicLinkNotFound`. */
  async checkTicket(ticket: string): Promise<void> {
    await this.needs.publicLinks.ofTicket(ticket);
  }

  /** The questions of a link. Refusals: those of a closed link. */
  async page(ticket: string) {
    return this.pageOf(await this.needs.publicLinks.ofTicket(ticket));
  }

  /** The same for a link that was found. */
  async pageOf(found: Linked) {
    const { link } = found;
    const owner = await this.#openedBy(found);
    const asked = new Set(link.fields);
    const fields = senderFields(await this.#requestOf(owner, link)).filter(({ name }) =>
      asked.has(name.trim()),
    );
    const { name, contact, language } = link;
    const organizationName = owner.organization.name;
    const page: PublicLinkPage = {
      name,
      organizationName,
      contact,
      language,
      fields: fields.map(shownField),
    };
    return {
      page,
      inputs: link.fields,
      branding: await pageLookOf(this.needs.runtime.actors, owner.organization),
    };
  }

  /** Refusals: those of a closed link; `BadRequest`, `TooManyRequests`, `TooManyWrongCodes`. */
  async sendCode({ ticket, resend, ...given }: PublicLinkCode): Promise<void> {
    const found = await this.needs.publicLinks.ofTicket(ticket);
    await this.#openedBy(found);
    const { link } = found;
    const visitor = visitorOf(found, given);
    const { codes, runtime } = this.needs;
    const holder = holderOf(found, visitor);
    const wish = { resend: resend === true, pause: CODE_PAUSE_MS };
    if (await codes.hasCode(holder, wish)) return;
    await countCode(runtime.actors, found, { visitor, messagesPerDay: codes.messagesPerDay });
    const { email, phone, language } = visitor.user;
    const at = runtime.clock.now();
    const { organizationId, createdBy } = link;
    const mail = {
      about: 'code',
      // The document that is to be made: its mails have this one, too.
      document: {
        id: holder.documentId,
        organizationId,
        name: link.name,
        key: '',
        creationDate: at,
        updateDate: at,
        folderId: link.folderId,
        createdBy,
        description: null,
      },
      flowActionId: holder.flowActionId,
      userId: holder.userId,
      // Not the name: whoever asks for a code may not be the owner of the address.
      to: { name: null, email: email ?? '', ...(language && { language }) },
      ...(holder.channel && { message: { channel: holder.channel, phone: phone ?? '' } }),
    } as const;
    await codes.sendTo(holder, mail, wish);
  }

  /** Refusals: those of the operation. */
  async visit(given: PublicLinkVisit): Promise<VisitAnswer> {
    try {
      const { outcome, ...answer } = await this.#visit(given);
      this.needs.onVisit?.(outcome);
      return answer;
    } catch (error) {
      if (error instanceof PortalRefusal) this.needs.onVisit?.(REFUSED_OUTCOMES[error.code] ?? 'refused');
      throw error;
    }
  }

  /** The answer to a visit that has made its document, also at a link that takes no more; undefined: there is none. */
  async repeated(
    given: Pick<PublicLinkVisit, 'ticket' | 'visitId' | 'name' | 'email' | 'phone'>,
  ): Promise<VisitAnswer | undefined> {
    const found = await this.needs.publicLinks.ofTicket(given.ticket);
    const visitor = visitorIn(found, given);
    if (visitor === undefined) return undefined;
    const repeated = ownDocuments(await this.#settled(visitor.id), visitor).find(
      ({ visitId }) => visitId === hashOf(given.visitId),
    );
    if (repeated === undefined) return undefined;
    this.needs.onVisit?.('repeated');
    return this.#answer(found.link, repeated.documentId);
  }

  async #visit(
    given: PublicLinkVisit,
    attempts = ATTEMPTS,
  ): Promise<VisitAnswer & { readonly outcome: VisitOutcome }> {
    const found = await this.needs.publicLinks.ofTicket(given.ticket);
    const { link } = found;
    const visitor = visitorOf(found, given);
    const visitId = hashOf(given.visitId);
    const before = await this.#settled(visitor.id);
    const own = ownDocuments(before, visitor);
    const repeated = own.find((one) => one.visitId === visitId);
    // The link may have ended since.
    if (repeated !== undefined)
      return { outcome: 'repeated', ...(await this.#answer(link, repeated.documentId)) };
    const owner = await this.#openedBy(found);
    await this.needs.codes.check(holderOf(found, visitor), given.code ?? '');
    const last = own.at(-1);
    if (last !== undefined && (await this.#isOpen(link, last.documentId)))
      return { outcome: 'resumed', ...(await this.#answer(link, last.documentId)) };
    const number = before?.documents.length ?? 0;
    if (number >= link.mostPerPerson) throw new PortalRefusal('PublicLinkPersonFull');
    const fieldValues = given.fieldValues ?? {};
    const visit = { visitId, person: visitor.person, user: visitor.user, fieldValues };
    const documentId = await this.#madeFor(found, visitor.id, { owner, number, visit });
    if (documentId !== undefined) return { outcome: 'made', ...(await this.#answer(link, documentId)) };
    if (attempts > 1) return this.#visit(given, attempts - 1);
    throw new PortalRefusal('ServiceBusy');
  }

  /**
   * Makes the document of a visit before a device of the sender. Nobody has proven an address, so the visit finds no earlier
   * document. Refusals: those of a visit.
   */
  async visitHere(
    found: Linked,
    host: NonNullable<LinkVisit['host']>,
    given: Omit<PublicLinkVisit, 'ticket' | 'code'>,
  ): Promise<DocumentId> {
    const visitId = hashOf(given.visitId);
    const { id, person, user } = visitorHere(found, given);
    const [made] = (await this.#settled(id))?.documents ?? [];
    if (made !== undefined) return made.documentId;
    const owner = await this.#openedBy(found);
    // The template may have changed since the device was opened.
    if (!(await this.#beginsHere(owner, found))) throw new PortalRefusal('PublicLinkEnded');
    const visit = { visitId, person, user, host, fieldValues: given.fieldValues ?? {} };
    const documentId = await this.#madeFor(found, id, { owner, number: 0, visit });
    if (documentId === undefined) throw new PortalRefusal('ServiceBusy');
    this.needs.onVisit?.('made');
    return documentId;
  }

  /** Address at which the person before a device signs; undefined once the person has acted, or the document has ended. */
  async addressHere(
    { link: { role } }: Linked,
    host: NonNullable<LinkVisit['host']>,
    documentId: DocumentId,
  ): Promise<string | undefined> {
    const document = await this.needs.runtime.actors.read(DOCUMENT, documentId);
    const turn = document && turnOf(document, role);
    if (document === undefined || turn === undefined) return undefined;
    const state = shownState(document, turn);
    return state === 'ready' ? this.needs.links.here(document.context, turn, host) : undefined;
  }

  /** The document of a visit that was checked; undefined when another visit of the person was first. */
  async #madeFor(
    found: Linked,
    id: string,
    { owner, number, visit }: { readonly owner: Tenant; readonly number: number; readonly visit: LinkVisit },
  ): Promise<DocumentId | undefined> {
    assertAsked(found.link, Object.keys(visit.fieldValues));
    await assertTaken(this.needs, owner, found, visit);
    const after = await this.#make(found, id, { number, visit });
    if (after === 'not-first') return undefined;
    if (after?.refused?.visitId === visit.visitId) {
      const { code, message, details } = after.refused;
      throw new PortalRefusal(code, message, details && { details });
    }
    const made = after?.documents.find(({ visitId }) => visitId === visit.visitId);
    // It is made later; the same visit is answered with it.
    if (made === undefined) throw new PortalRefusal('ServiceBusy');
    return made.documentId;
  }

  /** Stores the visit, and waits for its document. */
  async #make(
    { id: linkId, link: { organizationId } }: Linked,
    id: string,
    visit: { readonly number: number; readonly visit: LinkVisit },
  ): Promise<LinkVisitorContext | 'not-first' | undefined> {
    const { actors } = this.needs.runtime;
    await accepted(actors.create(LINK_VISITOR, id, { linkId, organizationId }), busyUnlessMade);
    const wait = this.#waitFor(id);
    const sent = await actors.send(LINK_VISITOR, id, { type: 'MAKE', ...visit });
    if (sent.accepted) return (await wait.actor)?.context;
    wait.cancel();
    if (sent.reason === 'not-accepted') return 'not-first';
    throw new PortalRefusal('ServiceBusy');
  }

  #waitFor(id: string) {
    return this.needs.waits.begin(LINK_VISITOR, id, ({ state }) => state === 'Idle', WAIT_MS);
  }

  /** The person at the link, once no document is being made; undefined: there was no visit. */
  async #settled(id: string): Promise<LinkVisitorContext | undefined> {
    const wait = this.#waitFor(id);
    const present = await this.needs.runtime.actors.read(LINK_VISITOR, id);
    if (present?.state !== 'Making') {
      wait.cancel();
      return present?.context;
    }
    const after = await wait.actor;
    if (after === undefined) throw new PortalRefusal('ServiceBusy');
    return after.context;
  }

  /** Makes the document of a visit. Refusals: those of creation. */
  async make(
    { id, link }: Linked,
    seed: string,
    { user, fieldValues, host, visitId }: Pick<LinkVisit, 'user' | 'fieldValues' | 'host' | 'visitId'>,
  ): Promise<DocumentId> {
    const owner = await this.#ownerOf(link);
    const { role, returnUrl } = link;
    const publicLink = { id, role, ...(returnUrl !== null && { returnUrl }) };
    const [made] = await this.needs.templates.createDocuments(
      owner,
      link.templateId,
      {
        version: null,
        documentName: null,
        // Before a device nobody waits for a mail.
        properties: host === undefined ? {} : { disablePendingActionNotifications: true },
        participants: [...link.participants, { role, user }],
        fieldValues,
        publicLink,
      },
      seed,
    );
    if (made === undefined) throw new Fatal('internal', 'The template has made no document.');
    // The person before the device may have left meanwhile.
    if (host !== undefined && !(await this.#isBefore(id, visitId)))
      await leaveDocument(this.needs.runtime, link, made.documentId);
    return made.documentId;
  }

  async #isBefore(linkId: string, visitId: string): Promise<boolean> {
    const { publicLinks, runtime } = this.needs;
    const found = await publicLinks.read(linkId);
    return (
      found !== undefined && devicesOf(found.link, runtime.clock.now()).some((one) => one.visit === visitId)
    );
  }

  async #answer({ role }: PublicLinkContext, documentId: DocumentId): Promise<VisitAnswer> {
    const document = await this.needs.runtime.actors.read(DOCUMENT, documentId);
    const turn = document && turnOf(document, role);
    if (document === undefined || turn === undefined) throw new PortalRefusal('PublicLinkEnded');
    const url = this.needs.links.action(document.context, turn.flowActionId, turn.userId);
    return { documentId, url };
  }

  /** True while the visitor has not acted on the document. */
  async #isOpen({ role }: PublicLinkContext, documentId: DocumentId): Promise<boolean> {
    const document = await this.needs.runtime.actors.read(DOCUMENT, documentId);
    const turn = document && turnOf(document, role);
    if (document === undefined || turn === undefined) return false;
    return ['ready', 'waiting-for-turn'].includes(shownState(document, turn));
  }

  /** The maker of a link that takes visits. Refusals: those of a closed link. */
  async #openedBy({ link }: Linked): Promise<Tenant> {
    const status = publicLinkStatus(link, this.needs.runtime.clock.now());
    if (status !== 'Open') throw new PortalRefusal(`PublicLink${status}`);
    return this.#ownerOf(link);
  }

  /** Refusals: `PublicLinkEnded`. */
  async #ownerOf(link: PublicLinkContext): Promise<Tenant> {
    const owner = await ownerOf(this.needs, { ...link, createdAt: link.creationDate });
    if (owner === undefined) throw new PortalRefusal('PublicLinkEnded');
    return owner;
  }

  /** Refusals: those of a closed link; `InvalidFlowAction` where the visitor does not begin alone and without a certificate. */
  async assertHere(found: Linked): Promise<void> {
    if (await this.#beginsHere(await this.#openedBy(found), found)) return;
    throw new PortalRefusal(
      'InvalidFlowAction',
      'At a device the visitor begins: alone in the first step, and without a certificate.',
    );
  }

  async #beginsHere(owner: Tenant, { link }: Linked): Promise<boolean> {
    const { flowActions } = await this.#requestOf(owner, link);
    return beginsAlone(flowActions, link.role);
  }

  /** The request of the template as it is now. Refusals: `PublicLinkEnded` where it makes no document for the role any more. */
  async #requestOf(
    owner: Tenant,
    { templateId, role }: PublicLinkContext,
  ): Promise<Parameters<typeof actionsOf>[0]> {
    try {
      const { document } = await this.needs.templates.get(owner, templateId, null);
      const request = parsedInput(newDocuments, document);
      actionsOf(request, role);
      return request;
    } catch (error) {
      throw error instanceof PortalRefusal ? new PortalRefusal('PublicLinkEnded') : error;
    }
  }
}
