/**
 * Flows kept to be used again. Implements `SavedFlows`.
 *
 * View `saved-flows` [organization, creationDate, id] → { id, name }; counter `saved-flows/<organization>`.
 *
 * Source: docs/portal-values.md §20.
 */

import {
  type ActorStore,
  type ActorSystem,
  type ActorView,
  actorKind,
  type Clock,
  defineActor,
  type Ids,
  type MessageOf,
  type Row,
} from '@sealwright/runtime';
import type { Page, RecordQuery } from '../../../contracts/portal/lists.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  SAVED_FLOW_REMOVED,
  type SavedFlowContext,
  savedFlowMachine,
} from '../../../machines/portal/saved-flow.ts';
import { containing, pageOfRows } from '../../shared/row-pages.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import type { MadeDocument } from '../api/documents.ts';
import type { SavedFlowBody, SavedFlowItem, SavedFlows } from '../api/saved-flows.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { cleanName } from '../shared/names.ts';
import { assertRoomForRecord, readRecord, recordOnce } from '../shared/organization-records.ts';
import { withFieldValues, withRoles } from './flow-roles.ts';

const SAVED_FLOW = actorKind<typeof savedFlowMachine>('saved-flow');

/** Characters of a flow as JSON. */
const MAX_CONTENT_BYTES = 256 * 1024;
/** Flows one organization may keep. */
const MAX_FLOWS = 1_000;

function flowRows({ id, context }: ActorView<SavedFlowContext>): readonly Row[] {
  const { organizationId, creationDate, name } = context;
  return [{ view: 'saved-flows', key: [organizationId, creationDate, id], value: { id, name } }];
}

export const savedFlowDefinition = defineActor(SAVED_FLOW, {
  machine: savedFlowMachine,
  version: 1,
  rows: flowRows,
  counters: ({ context }) => ({ [counterOf(context.organizationId)]: 1 }),
  ends: ({ state }) => state === SAVED_FLOW_REMOVED,
});

function counterOf(organization: string): string {
  return `saved-flows/${organization}`;
}

export interface SavedFlowsDependencies {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly creation: Pick<DocumentCreation, 'create'>;
}

/** Refusals of all that take an id: `DocumentFlowNotFound`. */
export class SavedFlowService implements SavedFlows {
  readonly #dependencies: SavedFlowsDependencies;

  constructor(dependencies: SavedFlowsDependencies) {
    this.#dependencies = dependencies;
  }

  async list({ organization }: Tenant, query: RecordQuery): Promise<Page<SavedFlowItem>> {
    const { rows, totalCount } = await pageOfRows(this.#dependencies.store, {
      view: 'saved-flows',
      prefix: [organization.id],
      newestFirst: query.newestFirst,
      limit: query.limit,
      offset: query.offset,
      matches: containing(query.q, (row) => (row.value as { name: string }).name),
      counter: counterOf(organization.id),
    });
    const flows = await Promise.all(rows.map((row) => this.#find(organization.id, String(row.key.at(-1)))));
    return { items: flows.flatMap((flow) => (flow === undefined ? [] : [itemOf(flow)])), totalCount };
  }

  /** Refusals: `BadRequest`, `LimitExceeded`. */
  async create(tenant: Tenant, body: SavedFlowBody, seed?: string): Promise<SavedFlowItem> {
    const { organization } = tenant;
    const { store, clock } = this.#dependencies;
    const content = checked(body);
    const made = await recordOnce(this.#dependencies, SAVED_FLOW, seed, async () => {
      await assertRoomForRecord(store, counterOf(organization.id), MAX_FLOWS, 'flows');
      const at = clock.now();
      return {
        ...content,
        organizationId: organization.id,
        createdBy: principalOf(tenant),
        creationDate: at,
        updateDate: at,
      };
    });
    return itemOf({ ...made.context, id: made.id });
  }

  async get({ organization }: Tenant, id: string): Promise<SavedFlowItem & SavedFlowBody> {
    const flow = await this.#existing(organization.id, id);
    const { areActionsOrdered, flowActions, observers } = flow;
    return { ...itemOf(flow), areActionsOrdered, flowActions, observers };
  }

  async replace({ organization }: Tenant, id: string, body: SavedFlowBody): Promise<void> {
    const content = checked(body);
    await this.#send(organization.id, id, { type: 'REPLACE', content });
  }

  remove({ organization }: Tenant, id: string): Promise<void> {
    return this.#send(organization.id, id, { type: 'REMOVE' });
  }

  async createDocuments(
    tenant: Tenant,
    id: string,
    { participants, fieldValues, ...request }: Parameters<SavedFlows['createDocuments']>[2],
    read: Parameters<SavedFlows['createDocuments']>[3],
    seed?: string,
  ): Promise<readonly MadeDocument[]> {
    const saved = await this.#existing(tenant.organization.id, id);
    const { flowActions, observers } = read({
      flowActions: saved.flowActions,
      observers: saved.observers,
    });
    return this.#dependencies.creation.create(
      tenant,
      withFieldValues(
        {
          ...request,
          observers: request.observers ?? observers,
          flowActions: withRoles(flowActions, participants, saved.areActionsOrdered),
        },
        fieldValues,
      ),
      seed,
    );
  }

  async #send(organization: string, id: string, event: MessageOf<typeof SAVED_FLOW>) {
    const flow = await this.#existing(organization, id);
    const outcome = await this.#dependencies.system.send({ kind: SAVED_FLOW, id: flow.id }, event);
    if (!outcome.accepted) throw new PortalRefusal('DocumentFlowNotFound');
    await outcome.durable;
  }

  async #existing(organization: string, id: string): Promise<SavedFlowContext & { readonly id: string }> {
    const flow = await this.#find(organization, id);
    if (flow === undefined) throw new PortalRefusal('DocumentFlowNotFound');
    return flow;
  }

  async #find(
    organization: string,
    given: string,
  ): Promise<(SavedFlowContext & { readonly id: string }) | undefined> {
    const actor = await readRecord(this.#dependencies.system, SAVED_FLOW, organization, given);
    return actor && { ...actor.context, id: actor.id };
  }
}

function itemOf({
  id,
  name,
  creationDate,
  updateDate,
  createdBy,
}: SavedFlowContext & { readonly id: string }): SavedFlowItem {
  return { id, name, creationDate, updateDate, createdBy };
}

function checked({ name: given, areActionsOrdered, flowActions, observers }: SavedFlowBody): SavedFlowBody {
  const name = cleanName(given);
  if (JSON.stringify([flowActions, observers]).length > MAX_CONTENT_BYTES) {
    throw new PortalRefusal('LimitExceeded', `A saved flow may have ${MAX_CONTENT_BYTES} characters.`);
  }
  return { name, areActionsOrdered, flowActions, observers };
}
