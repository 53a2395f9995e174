/**
 * Administration of a stopped service's store, for the command line. Starts the actors of organizations and users only;
 * pending work of others waits for the next start.
 */
import {
  type ActorStore,
  buildRuntime,
  type Clock,
  type Ids,
  type Log,
  type Step,
} from '@sealwright/runtime';
import { Administration } from './administration.ts';
import { organizationDefinition } from './organizations.ts';
import { portalUserDefinition, UserDirectory } from './users.ts';

export function administrationOf(parts: {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onCommitted: (step: Step) => void;
}): { readonly administration: Administration; readonly users: UserDirectory } {
  const definitions = [organizationDefinition, portalUserDefinition];
  const { system, store } = buildRuntime({ ...parts, definitions, handlers: {} });
  const { clock, ids } = parts;
  return {
    administration: new Administration({ system, store, clock, ids }),
    users: new UserDirectory({ system, store, clock, ids }),
  };
}
