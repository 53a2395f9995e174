/**
 * Administration of a stopped service's store, for the command line. Starts organization actors only; pending work of
 * others waits for the next start.
 */
import { type ActorStore, type Clock, createRuntime, type Ids, type Log } from '../../../runtime/index.ts';
import { Administration } from './administration.ts';
import { organizationDefinition } from './organizations.ts';

export function administrationOf(parts: {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}): Administration {
  const { system, store } = createRuntime({ ...parts, definitions: [organizationDefinition], handlers: {} });
  return new Administration({ system, store, clock: parts.clock, ids: parts.ids });
}
