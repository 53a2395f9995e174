/**
 * Flows kept to be used again.
 *
 * Source: docs/portal-values.md §20.
 */
import { defineActor, type Json } from '@sealwright/runtime';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { RecordQuery } from '../../../contracts/portal/saved-requests/records.ts';
import {
  type NewSavedFlow,
  type SavedFlowDocuments,
  type SavedFlowItem,
  type SavedFlowView,
  savedActions,
} from '../../../contracts/portal/saved-requests/saved-flows.ts';
import type { RequestContent } from '../../../machines/portal/saved-request.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentOfRequest } from '../api/documents.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { cleanName } from '../shared/names.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import type { RecordRuntime } from '../shared/records.ts';
import { withFieldValues, withRoles } from './flow-roles.ts';
import {
  assertLength,
  newestOf,
  requestActors,
  type SavedRequest,
  SavedRequests,
  timesOf,
} from './saved-requests.ts';

const FLOWS = requestActors('saved-flow', {
  most: 1,
  view: 'saved-flows',
  itemOf: ({ id }, { name }) => ({ id, name }),
});

export const SAVED_FLOW = defineActor('saved-flow', {
  ...FLOWS,
  version: 2,
  migrations: {
    // Version 1 kept its content beside the dates.
    1: {
      migrate({ state, context: { name, areActionsOrdered, flowActions, observers, ...context } }) {
        const { createdBy, updateDate } = context;
        const document = { areActionsOrdered, flowActions, observers };
        const version = { name, document, uploads: [], version: 1, createdBy, creationDate: updateDate };
        return { state, context: { ...context, versions: [version] } as Json };
      },
    },
  },
});

/** Refusals of all that take an id: `DocumentFlowNotFound`. */
export class SavedFlowService extends SavedRequests<NewSavedFlow, SavedFlowItem> {
  constructor(
    runtime: RecordRuntime,
    private readonly creation: Pick<DocumentCreation, 'create'>,
  ) {
    super(runtime, {
      actor: SAVED_FLOW,
      notFound: 'DocumentFlowNotFound',
      view: 'saved-flows',
      items: 'flows',
      itemOf,
    });
  }

  protected override contentOf(_: Tenant, { name: given, ...document }: NewSavedFlow): RequestContent {
    const name = cleanName(given);
    assertLength([document.flowActions, document.observers], 'A saved flow');
    return { name, document, uploads: [] };
  }

  // The rows of flows have names alone.
  override async list(tenant: Tenant, query: RecordQuery): Promise<Page<SavedFlowItem>> {
    const { items, ...page } = await super.list(tenant, query);
    const flows = await Promise.all(items.map(({ id }) => this.records.find(tenant.organization.id, id)));
    return { ...page, items: flows.flatMap((flow) => (flow === undefined ? [] : [itemOf(flow)])) };
  }

  async get(tenant: Tenant, id: string): Promise<SavedFlowView> {
    const flow = await this.records.existing(tenant, id);
    return { ...itemOf(flow), ...documentOf(flow) };
  }

  /** Creates documents with the actions of a flow, whose roles (titles) the participants take. */
  async createDocuments(
    tenant: Tenant,
    id: string,
    { participants, fieldValues, ...request }: SavedFlowDocuments,
    seed?: string,
  ): Promise<readonly DocumentOfRequest[]> {
    const saved = documentOf(await this.records.existing(tenant, id));
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

function itemOf(flow: SavedRequest): SavedFlowItem {
  const newest = newestOf(flow);
  return { id: flow.id, name: newest.name, ...timesOf(flow, newest) };
}

function documentOf(flow: SavedRequest) {
  return newestOf(flow).document as Omit<NewSavedFlow, 'name'>;
}
