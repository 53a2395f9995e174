/**
 * Rules of retention of organizations: an actor for each organization that has set some. The passes are in `retention-pass.ts`.
 *
 * Source: docs/decisions/0610-retention-and-holds.md.
 */
import { accepted, describeFailure } from '@sealwright/runtime';
import type { Page } from '../../../contracts/portal/lists.ts';
import type {
  NewRetention,
  RetentionItem,
  RetentionList,
} from '../../../contracts/portal/retention/retention.ts';
import { type FolderId, type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { RetentionContext } from '../../../machines/portal/retention.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { countOf, rowPieces } from '../../shared/lists/stored-rows.ts';
import { RETENTION, RETENTION_RULES_VIEW } from '../accounts/organizations.ts';
import { callerName, type Tenant } from '../api/callers.ts';
import { DOCUMENT, statusOf } from '../document-records/document-index.ts';
import { FOLDER, type Folders } from '../folders/folders.ts';
import { folderNotFound } from '../shared/folder-access.ts';
import { RETENTION_ROW, RETENTION_VIEW, retentionCounter } from '../shared/retention-rows.ts';

/** Pause between two looks for passes that are due, milliseconds. */
const LOOK_INTERVAL_MS = 600_000;

const NONE: NewRetention = { noticeDays: 14, rules: [] };

export class Retention {
  #cancel = () => {};
  #looking = Promise.resolve();
  #isStopped = false;

  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'log'>,
    private readonly folders: Pick<Folders, 'find'>,
  ) {}

  async get({ organization }: Pick<Tenant, 'organization'>): Promise<NewRetention> {
    const { noticeDays, rules } =
      (await this.runtime.actors.read(RETENTION, organization.id))?.context ?? NONE;
    return { noticeDays, rules };
  }

  /** Refusals: `BadRequest` for two rules of the same, `FolderNotFound`, `ServiceBusy`. */
  async set(tenant: Tenant, { noticeDays, rules: given }: NewRetention): Promise<NewRetention> {
    const { actors } = this.runtime;
    const organizationId = tenant.organization.id;
    const rules = given.map((rule) => ({ ...rule, folderId: rule.folderId?.toLowerCase() ?? null }));
    const names = rules.map(({ folderId, status }) => `${folderId} ${status}`);
    if (new Set(names).size < names.length)
      throw badMember('Rules', 'Two rules are for the same folder and status.');
    for (const folderId of new Set(rules.map((rule) => rule.folderId)))
      if (folderId !== null && (await this.folders.find(organizationId, folderId)) === undefined)
        throw folderNotFound(folderId);
    const none: RetentionContext = { noticeDays, rules: [], organizationId, last: null, isRunning: false };
    const busy = () => new PortalRefusal('ServiceBusy');
    await accepted(actors.create(RETENTION, organizationId, none), ({ reason }) =>
      reason === 'exists' ? undefined : busy(),
    );
    const message = { type: 'SET', noticeDays, rules, by: callerName(tenant) } as const;
    await accepted(actors.send(RETENTION, organizationId, message), busy);
    return { noticeDays, rules };
  }

  async list(
    { organization }: Pick<Tenant, 'organization'>,
    {
      list,
      limit,
      offset,
      order,
    }: {
      readonly list: RetentionList;
      readonly limit: number;
      readonly offset: number;
      readonly order?: 'Asc' | 'Desc' | undefined;
    },
  ): Promise<Page<RetentionItem>> {
    const { store } = this.runtime;
    const totalCount = await countOf(store, retentionCounter(organization.id, list));
    const first = offset * limit;
    if (first >= totalCount) return { items: [], totalCount };
    const prefix = [organization.id, list];
    const page = { prefix, reverse: order === 'Desc', offset: first, limit };
    const rows = await store.rows({ view: RETENTION_VIEW, ...page });
    const items = await Promise.all(
      rows.map(({ key, value }) =>
        RETENTION_ROW.read(value).type === 'Folder'
          ? this.#folder(String(key[3]))
          : this.#document(String(key[3]), list, Number(key[2])),
      ),
    );
    return { items: items.filter((item) => item !== undefined), totalCount };
  }

  async #folder(given: string): Promise<RetentionItem | undefined> {
    const id = parsePortalId('FolderId', given);
    const folder = id && (await this.runtime.actors.read(FOLDER, id satisfies FolderId));
    if (folder?.context.hold == null) return undefined;
    const { reason, by, at: date } = folder.context.hold;
    return {
      type: 'Folder',
      id: given,
      name: folder.context.name,
      status: null,
      date,
      rule: null,
      reason,
      by,
    };
  }

  async #document(given: string, list: RetentionList, date: number): Promise<RetentionItem | undefined> {
    const document = await this.runtime.actors.read(DOCUMENT, given);
    if (document === undefined) return undefined;
    const { name, hold, deletion } = document.context;
    return {
      type: 'Document',
      id: given,
      name,
      status: statusOf(document),
      date,
      rule: list === 'Held' ? null : (deletion?.rule ?? null),
      reason: hold?.reason ?? null,
      by: hold?.by ?? null,
    };
  }

  /** Begins the passes that are due, now and from time to time. One node at a time does it. */
  start(): void {
    const { clock, log } = this.runtime;
    if (this.#isStopped) return;
    this.#looking = this.look()
      .catch((error: unknown) =>
        log.error('Passes of retention could not be begun; this is tried again.', describeFailure(error)),
      )
      .then(() => {
        if (!this.#isStopped) this.#cancel = clock.after(LOOK_INTERVAL_MS, () => this.start());
      });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Begins the passes that are due. */
  async look(): Promise<void> {
    const { actors, store } = this.runtime;
    for await (const rows of rowPieces(store, { view: RETENTION_RULES_VIEW }))
      for (const { key } of rows)
        if (!this.#isStopped) await actors.send(RETENTION, key[0] as OrganizationId, { type: 'DUE' });
  }
}
