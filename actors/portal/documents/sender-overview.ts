/**
 * Documents as senders list them: whom each waits for, how far it is, until when; and how many there are of each kind.
 */

import {
  type ActorStore,
  type Clock,
  contextOf,
  type Ids,
  type Millis,
  type Step,
} from '@sealwright/runtime';
import type { ListPosition } from '../../../contracts/portal/lists.ts';
import type { ListedStatus } from '../../../contracts/portal/words.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { DocumentId, FlowActionId, FolderId, OrganizationId } from '../../../machines/ids.ts';
import { deputyIn } from '../../../machines/portal/documents/deputy-acts.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { requestedUsers, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { FlowAction, Participant } from '../../../machines/portal/portal-types.ts';
import { Changes } from '../../shared/coordination/changes.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentColumns } from '../document-records/document-columns.ts';
import type { DocumentQuery } from '../document-records/document-filter.ts';
import { DOCUMENT, type DocumentActor, statusOf } from '../document-records/document-index.ts';
import {
  countDocuments,
  expiringDocuments,
  listDocuments,
  pendingOf,
} from '../document-records/document-list.ts';
import { type DocumentDirectory, hasSignature } from '../document-records/document-reader.ts';
import { isPromised } from '../document-records/signing-turns.ts';
import type { Folders } from '../folders/folders.ts';
import { filterFor, mayChange, reachesFolder } from '../shared/folder-access.ts';
import { addressKey } from '../shared/mail-address.ts';

/** A last day within this time is close. */
const SOON: Millis = 7 * DAY_MS;
/** Documents that wait for one person, or expire soon, of which counts know. */
const MOST_COUNTED = 1_000;
/** Least time between two refreshes of open pages, after the first few. */
const CHANGES_EVERY_MS: Millis = 3_000;
const ENDED = ['Refused', 'Canceled', 'Expired'] as const;

/** Documents that senders look for together. */
export type OverviewKind = 'mine' | 'others' | 'expiring' | 'concluded' | 'ended';

export interface OverviewPerson {
  readonly name: string;
  /** Name of the deputy who has acted; null: none. */
  readonly deputy: string | null;
  readonly state: 'done' | 'waiting' | 'later' | 'refused';
  /** Start of the day on which the person last opened the document, UTC; null: not yet. */
  readonly opened: Millis | null;
  /** The last mail to the person could not be delivered. */
  readonly isMailReturned: boolean;
}

export interface OverviewItem {
  readonly id: DocumentId;
  readonly name: string;
  readonly status: ReturnType<typeof statusOf>;
  readonly folder: string | null;
  readonly creator: string;
  readonly updateDate: Millis;
  readonly expirationDate: Millis | null;
  readonly people: readonly OverviewPerson[];
  readonly hasSignature: boolean;
  /** True when the rights of the caller on its folder permit a change. */
  readonly mayChange: boolean;
  /** Actions whose people can be reminded. */
  readonly pendingActions: readonly FlowActionId[];
}

export interface OverviewCounts {
  readonly all: number;
  readonly mine: number;
  readonly others: number;
  /** Those of `others` that expire within a week. */
  readonly soon: number;
  readonly concluded: number;
  readonly ended: number;
}

export interface OverviewQuery extends Omit<DocumentQuery, 'offset' | 'position'> {
  readonly kind?: OverviewKind | undefined;
  readonly position: 'start' | ListPosition;
}

export class SenderOverview {
  readonly #changes = new Map<OrganizationId, Changes>();

  constructor(
    private readonly runtime: {
      readonly store: ActorStore;
      readonly clock: Pick<Clock, 'now' | 'after' | 'elapsed'>;
      readonly ids: Pick<Ids, 'uuid'>;
    },
    private readonly directory: Pick<DocumentDirectory, 'byId'>,
    private readonly folders: Pick<Folders, 'find'>,
    private readonly columns: DocumentColumns,
  ) {}

  async counts(tenant: Tenant, email: string): Promise<OverviewCounts> {
    const { store, clock } = this.runtime;
    const { id: organization } = tenant.organization;
    const visible = filterFor(tenant);
    const of = (...statuses: readonly ListedStatus[]) =>
      countDocuments(store, organization, statuses, visible.exceptFolders);
    const { mine, alone } = await this.#waitingFor(tenant, email);
    const soon = await expiringDocuments(store, organization, {
      ...visible,
      limit: MOST_COUNTED,
      position: 'start',
      until: clock.now() + SOON,
      without: alone,
    });
    const [pending, concluded, ended] = await Promise.all([of('Pending'), of('Concluded'), of(...ENDED)]);
    return {
      all: pending + concluded + ended,
      mine: mine.size,
      others: Math.max(0, pending - alone.size),
      soon: soon.ids.length,
      concluded,
      ended,
    };
  }

  async list(tenant: Tenant, email: string, query: OverviewQuery) {
    const { id: organization } = tenant.organization;
    const { ids, ...page } = await this.#ids(tenant, email, { ...query, ...filterFor(tenant) });
    const found = await Promise.all(ids.map((id) => this.directory.byId(id)));
    const items = await Promise.all(
      found
        .filter((document) => document !== undefined)
        .map(async (document) =>
          itemOf(
            document,
            await this.#folderName(organization, document.context),
            mayChange(tenant, document.context),
          ),
        ),
    );
    return { ...page, items };
  }

  /** Resolves when a document of the organization has changed; see `Changes.waitShared`. */
  async wait({ organization }: Tenant, known: string, within: Millis): Promise<string> {
    const { clock, ids } = this.runtime;
    const changes = this.#changes.get(organization.id) ?? new Changes(clock, ids);
    this.#changes.set(organization.id, changes);
    return changes.waitShared(known, within, CHANGES_EVERY_MS);
  }

  /** Sees each committed step. */
  observe({ actor }: Step): void {
    const document = contextOf(DOCUMENT, actor);
    if (document !== undefined) this.#changes.get(document.organization.id)?.observe();
  }

  /** Ends all waits. */
  close(): void {
    for (const changes of this.#changes.values()) changes.stop();
  }

  async #ids(tenant: Tenant, email: string, { kind, ...filter }: OverviewQuery) {
    const { store } = this.runtime;
    const { id: organization } = tenant.organization;
    if (kind === 'expiring') return expiringDocuments(store, organization, filter, this.columns);
    const query: DocumentQuery = { ...filter, offset: 0 };
    const list = (more: Partial<DocumentQuery>) =>
      listDocuments(store, organization, { ...query, ...more }, this.columns);
    if (kind === 'concluded') return list({ statuses: ['Concluded'] });
    if (kind === 'ended') return list({ statuses: ENDED });
    if (kind === undefined) return list({});
    const { mine, alone } = await this.#waitingFor(tenant, email);
    return list({ statuses: ['Pending'], ...(kind === 'others' ? { without: alone } : { only: mine }) });
  }

  /** Order numbers of documents in which it is the turn of an address; `alone`: those that wait for nobody else. */
  async #waitingFor(tenant: Tenant, email: string) {
    const { id: organization } = tenant.organization;
    const mine = new Set<number>();
    const alone = new Set<number>();
    for (const id of await pendingOf(this.runtime.store, organization, email, MOST_COUNTED)) {
      const document = await this.directory.byId(id);
      if (document?.state !== 'Pending' || !reachesFolder(tenant, document.context.folderId)) continue;
      const waiting = waitingPeople(document.context);
      const own = waiting.filter(({ email: one }) => one !== null && addressKey(one) === addressKey(email));
      if (own.length > 0) mine.add(document.context.order);
      if (own.length > 0 && own.length === waiting.length) alone.add(document.context.order);
    }
    return { mine, alone };
  }

  async #folderName(
    organization: OrganizationId,
    { folderId }: Pick<DocumentContext, 'folderId'>,
  ): Promise<string | null> {
    if (folderId === null) return null;
    return (await this.folders.find(organization, folderId as FolderId))?.name ?? null;
  }
}

function itemOf(document: DocumentActor, folder: string | null, isChangeable: boolean): OverviewItem {
  const { context } = document;
  const isOpen = document.state === 'Pending';
  return {
    id: context.id,
    name: context.name,
    status: statusOf(document),
    folder,
    creator: context.createdBy.name,
    updateDate: context.updateDate,
    expirationDate: context.expirationDate,
    people: context.actions
      .filter(({ status }) => status !== 'Skipped')
      .flatMap((action) => usersOf(action).map((user) => personOf(context, action, user, isOpen))),
    hasSignature: hasSignature(context),
    mayChange: isChangeable,
    pendingActions: isOpen
      ? context.actions.filter(({ status }) => status === 'Pending').map(({ id }) => id)
      : [],
  };
}

/** People whose turn it is, without those whose signature is accepted already. */
function waitingPeople({ actions, accepted }: DocumentContext): readonly Participant[] {
  return actions
    .filter(({ status }) => status === 'Pending')
    .flatMap((action) => waitingIn(action, accepted));
}

function waitingIn(action: FlowAction, accepted: DocumentContext['accepted']): readonly Participant[] {
  return requestedUsers(action).filter(
    ({ id }) => !isPromised(accepted, { flowActionId: action.id, userId: id }),
  );
}

function personOf(
  context: DocumentContext,
  action: FlowAction,
  user: Participant,
  isOpen: boolean,
): OverviewPerson {
  const { accepted, trail } = context;
  const dayOf = (what: 'opened' | 'mail-refused' | 'mail-delivered') => trail?.by[`${what} ${user.id}`]?.day;
  const opened = dayOf('opened');
  const refused = dayOf('mail-refused');
  return {
    name: user.name ?? user.email ?? action.ruleName ?? '',
    deputy: deputyIn(context, { flowActionId: action.id, userId: user.id })?.name ?? null,
    state: stateOf(action, user, isOpen && waitingIn(action, accepted).includes(user)),
    opened: opened === undefined ? null : opened * DAY_MS,
    isMailReturned: refused !== undefined && refused > (dayOf('mail-delivered') ?? -1),
  };
}

function stateOf(action: FlowAction, user: Participant, isRequested: boolean): OverviewPerson['state'] {
  const member = action.ruleUsers.find(({ id }) => id === user.id);
  if (member?.hasRefused === true || (member === undefined && action.status === 'Refused')) return 'refused';
  if (member === undefined ? action.status === 'Completed' : member.signatureDate !== null) return 'done';
  return isRequested && action.status === 'Pending' ? 'waiting' : 'later';
}
