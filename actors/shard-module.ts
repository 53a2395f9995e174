/** Module that each thread with actors loads: the actors of both services. */
import type { ShardModule } from '@sealwright/runtime/shards';
import { batchPartitions, definitions } from './batch/registry.ts';
import { portalDefinitions, portalPartitions } from './portal/registry.ts';

export const shardModule: ShardModule = {
  definitions: [...definitions, ...portalDefinitions],
  partitions: { ...batchPartitions, ...portalPartitions },
};

/** Kinds of all actors, for the verification of the history. */
export const ACTOR_KINDS: readonly string[] = shardModule.definitions.map(({ kind }) => kind);
