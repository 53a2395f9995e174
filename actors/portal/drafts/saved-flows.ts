/**
 * Flows kept to be used again.
 *
 * View `saved-flows` [organization, creationDate, id] → { id, name }; counter `saved-flows/<organization>`.
 *
 * Source: docs/portal-values.md §20.
 */
import { type ActorView, defineActor } from '@sealwright/runtime';
import type { RecordQuery } from '../../../contracts/portal/kept-requests/records.ts';
import {
  type NewSavedFlow,
  type SavedFlowDocuments,
  type SavedFlowItem,
  type SavedFlowView,
  savedActions,
} from '../../../contracts/portal/kept-requests/saved-flows.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  SAVED_FLOW_REMOVED,
  type SavedFlowContext,
  savedFlowMachine,
} from '../../../machines/portal/saved-flow.ts';
import type { Tenant } from '../api/callers.ts';
import type { MadeDocument } from '../api/documents.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { cleanName } from '../shared/names.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import { type RecordRuntime, Records } from '../shared/records.ts';
import { withFieldValues, withRoles } from './flow-roles.ts';

/** Characters of a flow as JSON. */
const MAX_CONTENT_BYTES = 256 * 1024;

export const SAVED_FLOW = defineActor('saved-flow', {
  machine: savedFlowMachine,
  version: 1,
  rows: ({ id, context: { organizationId, creationDate, name } }) => [
    { view: 'saved-flows', key: [organizationId, creationDate, id], value: { id, name } },
  ],
  counters: ({ context }) => ({ [`saved-flows/${context.organizationId}`]: 1 }),
  ends: ({ state }) => state === SAVED_FLOW_REMOVED,
});

/** Refusals of all that take an id: `DocumentFlowNotFound`. */
export class SavedFlowService {
  readonly #records: Records<typeof SAVED_FLOW>;

  constructor(
    runtime: RecordRuntime,
    private readonly creation: Pick<DocumentCreation, 'create'>,
  ) {
    this.#records = new Records(runtime, {
      actor: SAVED_FLOW,
      notFound: 'DocumentFlowNotFound',
      list: { view: 'saved-flows', most: 1_000, items: 'flows' },
    });
  }

  async list(tenant: Tenant, query: RecordQuery): Promise<Page<SavedFlowItem>> {
    const { items, ...page } = await this.#records.list(tenant, query);
    const flows = await Promise.all(
      items.map(({ key }) => this.#records.find(tenant.organization.id, String(key.at(-1)))),
    );
    return { ...page, items: flows.flatMap((flow) => (flow === undefined ? [] : [itemOf(flow)])) };
  }

  /** Refusals: `BadRequest`, `LimitExceeded`. @param seed as in `DocumentService.create` */
  async create(tenant: Tenant, body: NewSavedFlow, seed?: string): Promise<SavedFlowItem> {
    const content = checked(body);
    const made = await this.#records.create(tenant, seed, () => {
      const origin = this.#records.origin(tenant);
      return { ...content, ...origin, updateDate: origin.creationDate };
    });
    return itemOf(made);
  }

  async get(tenant: Tenant, id: string): Promise<SavedFlowView> {
    const flow = await this.#records.existing(tenant, id);
    const { areActionsOrdered, flowActions, observers } = flow.context;
    return { ...itemOf(flow), areActionsOrdered, flowActions, observers };
  }

  async replace(tenant: Tenant, id: string, body: NewSavedFlow): Promise<void> {
    await this.#records.change(tenant, id, { type: 'REPLACE', content: checked(body) });
  }

  async remove(tenant: Tenant, id: string): Promise<void> {
    await this.#records.change(tenant, id, { type: 'REMOVE' });
  }

  /** Creates documents with the actions of a flow, whose roles (titles) the participants take. */
  async createDocuments(
    tenant: Tenant,
    id: string,
    { participants, fieldValues, ...request }: SavedFlowDocuments,
    seed?: string,
  ): Promise<readonly MadeDocument[]> {
    const { context: saved } = await this.#records.existing(tenant, id);
    const { flowActions, observers } = parsedInput(savedActions, {
      flowActions: saved.flowActions,
      observers: saved.observers,
    });
    const whole = {
      ...request,
      observers: request.observers ?? observers,
      flowActions: withRoles(flowActions, participants ?? [], saved.areActionsOrdered),
    };
    return this.creation.create(tenant, withFieldValues(whole, fieldValues ?? {}), seed);
  }
}

function itemOf({ id, context }: ActorView<SavedFlowContext>): SavedFlowItem {
  const { name, creationDate, updateDate, createdBy } = context;
  return { id, name, creationDate, updateDate, createdBy };
}

function checked({ name: given, areActionsOrdered, flowActions, observers }: NewSavedFlow): NewSavedFlow {
  const name = cleanName(given);
  if (JSON.stringify([flowActions, observers]).length > MAX_CONTENT_BYTES) {
    throw new PortalRefusal('LimitExceeded', `A saved flow may have ${MAX_CONTENT_BYTES} characters.`);
  }
  return { name, areActionsOrdered, flowActions, observers };
}
