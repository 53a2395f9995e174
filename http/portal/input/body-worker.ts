/** Worker thread that parses large JSON bodies and validates them by the schemas of routes. */
import { parsedInput } from '../../../actors/portal/api.ts';
import type { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { credentialsOf } from '../credentials.ts';
import { LARGE_BODIES } from './body-schemas.ts';
import type { BodyAnswer, BodyTask } from './body-wire.ts';
import { parseJsonObject } from './json-body.ts';

/** Never throws for client input. */
export function run(task: BodyTask): BodyAnswer {
  try {
    const given = parseJsonObject(task.bytes);
    if (task.task === 'credentials') return { credentials: credentialsOf(given) };
    const schema = LARGE_BODIES[task.schema];
    if (schema === undefined) throw new TypeError(`No schema is named ${task.schema}.`);
    const value = parsedInput(schema, given);
    return { body: { value, fingerprint: fingerprintOf(given) } };
  } catch (thrown) {
    const { name, code, message, errors } = thrown as PortalRefusal;
    if (name !== 'PortalRefusal') throw thrown;
    return { fault: { code, message, errors: errors && { ...errors } } };
  }
}
