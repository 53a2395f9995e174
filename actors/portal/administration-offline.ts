/**
 * Administration of a store whose service does not run, for the command line. Of all actors only organizations live
 * meanwhile; stored work of others waits for the next start.
 */
import { type ActorStore, type Clock, createRuntime, type Ids, type Log } from '../../runtime/index.ts';
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
