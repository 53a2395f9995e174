/** Module that each thread with actors loads: the actors of both services. */
import type { Row, StoredActor } from '@sealwright/runtime';
import type { ShardModule } from '@sealwright/runtime/shards';
import { definitions } from './batch/registry.ts';
import { portalDefinitions } from './portal/registry.ts';

export const shardModule: ShardModule = { definitions: [...definitions, ...portalDefinitions] };

/** Kinds of all actors, for the verification of the history. */
export const ACTOR_KINDS: readonly string[] = shardModule.definitions.map(({ kind }) => kind);

/** States in which an actor has ended, by its kind: the store may then make it small. */
export const RESTING_STATES = new Map(
  shardModule.definitions.flatMap(({ kind, restsIn }) => (restsIn === undefined ? [] : [[kind, restsIn]])),
);

/** Returns the rows of lists that follow from an actor; undefined for one that another version of the program stored. */
export function rowsOfActor({ address, version, state, context }: StoredActor): readonly Row[] | undefined {
  const definition = shardModule.definitions.find(({ kind }) => kind === address.kind);
  if (definition?.version !== version) return undefined;
  return definition.rows?.({ id: address.id, state, context }) ?? [];
}
