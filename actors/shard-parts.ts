/** What every thread that hosts actors loads: the actors of both services. */
import type { ShardParts } from '../runtime/index.ts';
import { portalDefinitions, portalLanes } from './portal/registry.ts';
import { definitions } from './registry.ts';

export const shardParts: ShardParts = {
  definitions: [...definitions, ...portalDefinitions],
  lanes: portalLanes,
};
