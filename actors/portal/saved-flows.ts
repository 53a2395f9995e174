/**
 * Flows kept to be used again. Implements `SavedFlows`.
 *
 * View `saved-flows` [organization, creationDate, id] → { id, name }; counter `saved-flows/<organization>`.
 *
 * Source: portal-gaps §20, "Saved flows".
 */
import { parsePortalId } from '../../machines/ids.ts';
import { visibleText } from '../../machines/plain-text.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { SAVED_FLOW_REMOVED, type SavedFlowContext, savedFlowMachine } from '../../machines/saved-flow.ts';
import type {
  ActorDefinition,
  ActorStore,
  ActorSystem,
  ActorView,
  Clock,
  Ids,
  Json,
  Row,
} from '../../runtime/index.ts';
import type { FolderQuery, Page, SavedFlowBody, SavedFlowItem, SavedFlows, Tenant } from './api.ts';
import { containing, pageOfRows } from './row-pages.ts';

export const SAVED_FLOW = 'saved-flow';

const LONGEST_NAME = 255;
/** Characters of a flow as JSON. */
const LARGEST = 256 * 1024;
/** Flows one organization may keep. */
const MOST_FLOWS = 1_000;

function flowRows({ id, context }: ActorView): readonly Row[] {
  const { organizationId, creationDate, name } = context as SavedFlowContext;
  return [{ view: 'saved-flows', key: [organizationId, creationDate, id], value: { id, name } }];
}

export const savedFlowDefinition: ActorDefinition = {
  kind: SAVED_FLOW,
  machine: savedFlowMachine,
  version: 1,
  rows: flowRows,
  counters: ({ context }) => ({ [counterOf((context as SavedFlowContext).organizationId)]: 1 }),
  ends: ({ state }) => state === SAVED_FLOW_REMOVED,
};

function counterOf(organization: string): string {
  return `saved-flows/${organization}`;
}

export interface SavedFlowsParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Refusals of all that take an id: `DocumentFlowNotFound`. */
export class SavedFlowService implements SavedFlows {
  readonly #parts: SavedFlowsParts;

  constructor(parts: SavedFlowsParts) {
    this.#parts = parts;
  }

  async list({ organization }: Tenant, query: Omit<FolderQuery, 'parent'>): Promise<Page<SavedFlowItem>> {
    const { rows, totalCount } = await pageOfRows(this.#parts.store, {
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
  async create({ organization, application }: Tenant, body: SavedFlowBody): Promise<SavedFlowItem> {
    const { system, store, clock, ids } = this.#parts;
    const content = checked(body);
    const counter = counterOf(organization.id);
    if (((await store.counters(counter))[counter] ?? 0) >= MOST_FLOWS) {
      throw new PortalRefusal('LimitExceeded', `An organization may keep ${MOST_FLOWS} flows.`);
    }
    const at = clock.now();
    const context: SavedFlowContext = {
      ...content,
      organizationId: organization.id,
      createdBy: { id: application.id, type: 'Application', name: application.name },
      creationDate: at,
      updateDate: at,
    };
    const id = ids.uuid();
    const made = await system.create({ kind: SAVED_FLOW, id }, { ...context } as unknown as Json);
    if (!made.accepted) throw new PortalRefusal('ServiceBusy');
    await made.durable;
    return itemOf({ ...context, id });
  }

  async get({ organization }: Tenant, id: string): Promise<SavedFlowItem & SavedFlowBody> {
    const flow = await this.#existing(organization.id, id);
    const { areActionsOrdered, flowActions, observers } = flow;
    return { ...itemOf(flow), areActionsOrdered, flowActions, observers };
  }

  async replace({ organization }: Tenant, id: string, body: SavedFlowBody): Promise<void> {
    const content = checked(body);
    await this.#tell(organization.id, id, { type: 'REPLACE', content });
  }

  remove({ organization }: Tenant, id: string): Promise<void> {
    return this.#tell(organization.id, id, { type: 'REMOVE' });
  }

  async #tell(organization: string, id: string, event: { readonly type: string; readonly content?: object }) {
    const flow = await this.#existing(organization, id);
    const told = await this.#parts.system.tell({ kind: SAVED_FLOW, id: flow.id }, event);
    if (!told.accepted) throw new PortalRefusal('DocumentFlowNotFound');
    await told.durable;
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
    const id = parsePortalId('DocumentId', given);
    const actor = id && (await this.#parts.system.read({ kind: SAVED_FLOW, id }));
    const context = actor ? (actor.context as SavedFlowContext) : undefined;
    return id && context?.organizationId === organization ? { ...context, id } : undefined;
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
  const name = visibleText(given).trim();
  if (name === '' || name.length > LONGEST_NAME || /[\p{Cc}\p{Surrogate}]/u.test(name)) {
    const message = `The Name must have 1 to ${LONGEST_NAME} characters and no control character.`;
    throw new PortalRefusal('BadRequest', message, { errors: { Name: [message] } });
  }
  if (JSON.stringify([flowActions, observers]).length > LARGEST) {
    throw new PortalRefusal('LimitExceeded', `A saved flow may have ${LARGEST} characters.`);
  }
  return { name, areActionsOrdered, flowActions, observers };
}
