/**
 * Loader (`node --import`) that removes the runtime's inspection data for a benchmark: the state index of kinds and
 * states, message counts, and commit times. The product has no such option. Throws when the state index stays, so that
 * the benchmark cannot compare the program with itself; the compiler checks the names of the other two.
 */
import { register } from 'node:module';

const HOOKS = `
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith('/runtime/dist/step/derive.js')) return loaded;
  const source = String(loaded.source).replace('export function stateMove(', 'function unused(');
  return { ...loaded, source: source + '\\nexport const stateMove = () => null;' };
}
`;

register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
// Imported behind the registration: they import what it changes.
const { stateMove } = await import('#runtime/step/derive.js');
const { Traffic } = await import('#runtime/host/actor-host.js');
const { RecentTimes } = await import('#runtime/host/host.js');
if (stateMove(undefined, { version: 1, state: 'any' }) !== null)
  throw new Error('The state index is still maintained: this loader does not fit runtime/step/.');
Traffic.prototype.recordMessage = () => {};
RecentTimes.prototype.add = () => {};
