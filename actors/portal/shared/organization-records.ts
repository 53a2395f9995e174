/** Records of organizations that clients name by id, such as templates and saved flows. Each is one actor. */
import { parsePortalId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type {
  ActorAddress,
  ActorStore,
  ActorSystem,
  CommittedActor,
  ContextOf,
  InputOf,
} from '../../../runtime/index.ts';

/** Resolves once the new actor is durable. Refusals: `ServiceBusy`. */
export async function createRecord<Kind extends string>(
  system: Pick<ActorSystem, 'create'>,
  address: ActorAddress<Kind>,
  input: InputOf<Kind>,
): Promise<void> {
  const outcome = await system.create(address, input);
  if (!outcome.accepted) throw new PortalRefusal('ServiceBusy');
  await outcome.durable;
}

/**
 * Reads the record of an id that a client sent.
 * @returns undefined for a text that is no id, an unknown actor, and a record of another organization
 */
export async function readRecord<Kind extends string>(
  system: Pick<ActorSystem, 'read'>,
  kind: Kind,
  organization: string,
  id: string,
): Promise<CommittedActor<ContextOf<Kind>> | undefined> {
  // Ids of records have the form of document ids.
  const parsed = parsePortalId('DocumentId', id);
  const actor = parsed && (await system.read({ kind, id: parsed }));
  const context: { readonly organizationId?: string } | undefined = actor?.context;
  return context?.organizationId === organization ? actor : undefined;
}

/**
 * Refuses a record beyond the limit of the organization. Refusals: `LimitExceeded`.
 * @param counter number of records of the organization
 * @param items plural of the record, for the message
 */
export async function assertRoomForRecord(
  store: Pick<ActorStore, 'counters'>,
  counter: string,
  limit: number,
  items: string,
): Promise<void> {
  if (((await store.counters(counter))[counter] ?? 0) >= limit)
    throw new PortalRefusal('LimitExceeded', `An organization may keep ${limit} ${items}.`);
}
