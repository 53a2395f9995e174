/** Records of organizations that clients name by id, such as templates and saved flows. Each is one actor. */

import type {
  ActorAddress,
  ActorStore,
  ActorSystem,
  ActorView,
  CommittedActor,
  ContextOf,
  Ids,
  InputOf,
} from '@sealwright/runtime';
import { parsePortalId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { derivedId } from './effect-ids.ts';

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
 * Creates the record of a request, durably. Of a request that is executed again, returns the record that it has made.
 * Refusals: `ServiceBusy`.
 *
 * @param seed of a request that may be executed again; undefined = a fresh id
 * @param make makes the input of the record; called if there is none
 */
export async function recordOnce<Kind extends string>(
  dependencies: { readonly system: Pick<ActorSystem, 'create' | 'read'>; readonly ids: Pick<Ids, 'uuid'> },
  kind: Kind,
  seed: string | undefined,
  make: () => Promise<InputOf<Kind>>,
): Promise<ActorView<ContextOf<Kind>>> {
  const { system, ids } = dependencies;
  const address = { kind, id: seed === undefined ? ids.uuid() : derivedId(kind, seed) };
  const find = async () => (seed === undefined ? undefined : await system.read(address));
  const made = await find();
  if (made !== undefined) return made;
  let input: InputOf<Kind>;
  try {
    input = await make();
  } catch (error) {
    // The same request may have made it on another node meanwhile, for example as the last one below a limit.
    const existing = error instanceof PortalRefusal ? await find() : undefined;
    if (existing === undefined) throw error;
    return existing;
  }
  const outcome = await system.create(address, input);
  if (outcome.accepted) {
    await outcome.durable;
    return outcome.actor;
  }
  // The same request is executed on another node.
  const existing = outcome.reason === 'exists' ? await find() : undefined;
  if (existing === undefined) throw new PortalRefusal('ServiceBusy');
  return existing;
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
