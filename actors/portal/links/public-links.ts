/**
 * Links of templates for anybody, as their senders see them. `link-visits.ts` has the visits.
 *
 * Views: `public-links` [organization, order, id] → the link without its people; counter `public-links/<organization>`.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import type { Row } from '@sealwright/runtime';
import type { WithoutTime } from '@sealwright/runtime/actions';
import { senderFields } from '../../../contracts/portal/flow.ts';
import type { ListPosition, Page } from '../../../contracts/portal/lists.ts';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import {
  MAX_PER_PERSON,
  type NewPublicLink,
  type PublicLinkView,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import type { RecordQuery } from '../../../contracts/portal/saved-requests/records.ts';
import { badField, invalidAction, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  devicesOf,
  MAX_LINK_TIME_MS,
  type PublicLinkContext,
  type PublicLinkMessage,
  publicLinkStatus,
} from '../../../machines/portal/public-link.ts';
import type { OrderNumbers } from '../../shared/ids/order-numbers.ts';
import type { Tenant } from '../api/callers.ts';
import type { CreateDocuments } from '../api/documents.ts';
import { brandingOf, checkedRedirect } from '../branding/branding.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { withPeople } from '../generations/template-request.ts';
import type { Templates } from '../generations/templates.ts';
import { roleKey } from '../saved-requests/flow-roles.ts';
import { assertPlace, assertRight, mayChange, reachesFolder } from '../shared/folder-access.ts';
import { PUBLIC_LINK } from '../shared/link-records.ts';
import { cleanName } from '../shared/names.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import { type QrCode, qrCode } from '../shared/qr-code.ts';
import { type RecordRuntime, Records } from '../shared/records.ts';
import type { Tickets } from '../shared/tickets.ts';

const MAX_LINKS = 10_000;
const MAX_DOCUMENTS = 100_000;

interface ShownLink {
  readonly link: PublicLinkView;
  /** Of its address. */
  readonly code: QrCode;
  /** True: the caller may open devices for it. */
  readonly mayUse: boolean;
  /** True: the caller may end it. */
  readonly mayChange: boolean;
}

export interface Linked {
  readonly id: string;
  readonly link: PublicLinkContext;
}

export class PublicLinks {
  readonly #records: Records<typeof PUBLIC_LINK>;

  /** @param publicUrl gives `Portal:PublicUrl`, without a slash at its end */
  constructor(
    private readonly needs: {
      readonly runtime: RecordRuntime;
      readonly order: OrderNumbers;
      readonly tickets: Tickets;
      readonly templates: Templates;
      readonly creation: Pick<DocumentCreation, 'check'>;
      readonly publicUrl: () => string;
      /** True: codes can be sent to telephones. */
      readonly hasMessages: boolean;
    },
  ) {
    this.#records = new Records(needs.runtime, {
      actor: PUBLIC_LINK,
      notFound: 'PublicLinkNotFound',
      list: { view: 'public-links', most: MAX_LINKS, items: 'links for anybody' },
      folderOf: ({ folderId }) => folderId,
    });
  }

  async list(
    tenant: Tenant,
    {
      templateId,
      ...query
    }: RecordQuery & {
      readonly templateId?: string | undefined;
      readonly position?: 'start' | ListPosition | undefined;
    },
  ): Promise<Page<PublicLinkView>> {
    const linkOf = ({ value }: Row) => value as object as PublicLinkContext;
    const isOfTemplate = (row: Row) => linkOf(row).templateId === templateId;
    const matches = templateId === undefined ? undefined : isOfTemplate;
    const { items, ...page } = await this.#records.list(tenant, query, matches);
    return { ...page, items: items.map((row) => this.#view(String(row.key[2]), linkOf(row))) };
  }

  /** Refusals: those of creation; `TemplateNotFound`, `InvalidBranding`, `LimitExceeded`. @param seed as in `DocumentService.create` */
  async create(tenant: Tenant, given: NewPublicLink, seed?: string): Promise<PublicLinkView> {
    const { id, context } = await this.#records.create(tenant, seed, async () =>
      this.#inputOf(tenant, given),
    );
    return this.#view(id, context);
  }

  async get(tenant: Tenant, id: string): Promise<PublicLinkView> {
    const link = await this.#records.existing(tenant, id);
    return this.#view(link.id, link.context);
  }

  /** For the page of a link. Refusals: `PublicLinkNotFound`. */
  async shown(tenant: Tenant, given: string): Promise<ShownLink> {
    const { id, context } = await this.#records.existing(tenant, given);
    const link = this.#view(id, context);
    const mayUse = reachesFolder(tenant, context.folderId, 'Send');
    return { link, code: qrCode(link.url), mayUse, mayChange: mayChange(tenant, context) };
  }

  /** True: visitors may be asked for a telephone number. */
  get takesPhones(): boolean {
    return this.needs.hasMessages;
  }

  /** Ends the link, and its devices. Refusals: `PublicLinkNotFound`, `Forbidden`. */
  async end(tenant: Tenant, given: string): Promise<void> {
    const { id } = await this.#records.toChange(tenant, given);
    // It may have been ended before.
    await this.#records.send(id, { type: 'END' }, (refused) =>
      refused.reason === 'not-accepted' ? undefined : this.#records.refusalOf(refused),
    );
  }

  /** A link that the caller may use for persons before a device. Refusals: `PublicLinkNotFound`, `Forbidden`. */
  async toUse(tenant: Tenant, given: string): Promise<Linked> {
    const { id, context } = await this.#records.existing(tenant, given);
    assertPlace(tenant, context.folderId, null);
    return { id, link: context };
  }

  async read(id: string): Promise<Linked | undefined> {
    const found = await this.#records.read(id);
    return found && { id: found.id, link: found.context };
  }

  /** Undefined when the link does not accept the message. */
  async tell(id: string, message: WithoutTime<PublicLinkMessage>): Promise<PublicLinkContext | undefined> {
    return (await this.#records.send(id, message))?.context;
  }

  /** The link of a ticket, in any state. Refusals: `PublicLinkNotFound`. */
  async ofTicket(ticket: string): Promise<Linked> {
    const { clock } = this.needs.runtime;
    const [id] = this.needs.tickets.read('link', ticket, clock.now())?.claims ?? [];
    const found = id === undefined ? undefined : await this.#records.read(id);
    if (found === undefined) throw new PortalRefusal('PublicLinkNotFound');
    return { id: found.id, link: found.context };
  }

  /** Checks a new link. */
  async #inputOf(tenant: Tenant, given: NewPublicLink): Promise<PublicLinkContext> {
    const { templates, runtime, creation, order, hasMessages } = this.needs;
    const name = cleanName(given.name);
    const { document } = await templates.get(tenant, given.templateId, null);
    const request = parsedInput(newDocuments, document);
    const folderId = request.folderId?.toLowerCase() ?? null;
    if (folderId !== null) assertRight(tenant, folderId, 'Send');
    const contact = given.contact ?? 'Email';
    const actions = actionsOf(request, given.role);
    if (contact === 'Phone' && !hasMessages)
      throw invalidAction(
        'A code by SMS is not available. The operator sets Portal:MessageGateway:Url for it.',
      );
    if (contact === 'Phone' && actions.some(asksMailedCode))
      throw invalidAction(
        'The role signs with a code by e-mail. Set requireSmsAuthenticationToSignElectronically and disableEmailAuthenticationToSignElectronically of its action, or ask for the e-mail address.',
      );
    const fields = [...new Set((given.fields ?? []).map((field) => field.trim()))];
    const known = new Set(senderFields(request).map((field) => field.name.trim()));
    const unknown = fields.find((field) => !known.has(field));
    if (unknown !== undefined)
      throw new PortalRefusal('InvalidFieldValue', 'The template has no such field for the sender.', {
        details: { [unknown.slice(0, 100)]: 'The template has no such field for the sender.' },
      });
    const participants = given.participants ?? [];
    const role = actions[0]?.title?.trim() ?? '';
    const stand = contact === 'Email' ? { email: 'visitor@example.org' } : { phone: '+12025550100' };
    const people = {
      participants: [...participants, { role, user: { name: 'Visitor', ...stand } }],
      fieldValues: {},
    };
    const publicLink = { id: '', role };
    await creation.check(tenant, withoutFixed(withPeople(request, people), fields), { publicLink });
    const at = runtime.clock.now();
    const { redirectOrigins } = await brandingOf(runtime.actors, tenant.organization.id);
    const { application, user } = tenant;
    return {
      ...this.#records.origin(tenant),
      order: order.next().order,
      application: { id: application.id, name: application.name },
      ...(user !== undefined && { isUser: true }),
      name,
      templateId: given.templateId,
      folderId,
      role,
      participants,
      contact,
      fields,
      mostDocuments: given.mostDocuments ?? MAX_DOCUMENTS,
      mostPerPerson: given.mostPerPerson ?? MAX_PER_PERSON,
      endDate: endOf(given.endDate ?? null, at),
      language: given.language ?? null,
      returnUrl: checkedRedirect(given.returnUrl ?? null, redirectOrigins),
      taken: 0,
      taking: [],
      endedAt: null,
      lastRefusal: null,
    };
  }

  #view(id: string, link: PublicLinkContext): PublicLinkView {
    const { name, templateId, role, contact, fields, mostDocuments, mostPerPerson } = link;
    const { endDate, language, returnUrl, lastRefusal, creationDate, createdBy, taken } = link;
    const { tickets, publicUrl, runtime } = this.needs;
    return {
      id,
      name,
      templateId,
      role,
      contact,
      fields,
      mostDocuments,
      mostPerPerson,
      endDate,
      language,
      returnUrl,
      status: publicLinkStatus(link, runtime.clock.now()),
      documentCount: taken,
      lastRefusal,
      url: `${publicUrl()}/link?ticket=${tickets.issue('link', [id], creationDate)}`,
      devices: devicesOf(link, runtime.clock.now()).map(({ id: device, host, openedAt, endDate: until }) => ({
        id: device,
        openedBy: host,
        creationDate: openedAt,
        endDate: until,
      })),
      creationDate,
      createdBy: { id: createdBy.id, name: createdBy.name },
    };
  }
}

/** The actions of a role that somebody must take. Refusals: `InvalidFlowAction`; also for a template of several documents. */
export function actionsOf({ flowActions, files, isEnvelope }: CreateDocuments, role: string) {
  const actions = flowActions.filter(
    ({ title, user }) => !user && (title ?? '').trim() !== '' && roleKey(title ?? '') === roleKey(role),
  );
  if (actions.length === 0) throw invalidAction('The template has no such role.');
  if (files.length > 1 && isEnvelope !== true)
    throw invalidAction('The template makes several documents. A link needs one, or an envelope.');
  return actions;
}

function asksMailedCode(action: CreateDocuments['flowActions'][number]): boolean {
  return (
    action.allowElectronicSignature === true && action.disableEmailAuthenticationToSignElectronically !== true
  );
}

/** The request as it can be checked before a visitor gives the values of fields. */
function withoutFixed(request: CreateDocuments, fields: readonly string[]): CreateDocuments {
  return {
    ...request,
    flowActions: request.flowActions.map((action) => ({
      ...action,
      fields: action.fields?.map((field) =>
        fields.includes(field.name.trim()) ? { ...field, readOnly: false } : field,
      ),
    })),
  };
}

/** Refusals: `BadRequest`. */
function endOf(given: number | null, at: number): number {
  const latest = at + MAX_LINK_TIME_MS;
  if (given === null) return latest;
  if (given <= at) throw badField('EndDate', 'is over');
  if (given > latest) throw badField('EndDate', 'must be at most 366 days from now');
  return given;
}
