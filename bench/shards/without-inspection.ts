/**
 * Loader (`node --import`) that removes the runtime's inspection data for a benchmark: the state index of kinds and
 * states, message counts, and commit times. The product has no such option.
 */
import { register } from 'node:module';

const HOOKS = `
const TAKEN_OUT = {
  'census.js': (text) =>
    text.replace('export function moveOf(', 'function unused(') + '\\nexport const moveOf = () => null;',
  'traffic.js': (text) => text + '\\nTraffic.prototype.message = () => {};',
  'recent-times.js': (text) => text + '\\nRecentTimes.prototype.add = () => {};',
};
export async function load(url, context, next) {
  const loaded = await next(url, context);
  const change = TAKEN_OUT[/\\/runtime\\/([^/]+)$/.exec(url)?.[1]];
  return change ? { ...loaded, source: change(String(loaded.source)) } : loaded;
}
`;

register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
