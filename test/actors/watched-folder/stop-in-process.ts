/**
 * Run as a process of its own: watches a folder, stops at the moment named by the argument and writes `stopped`.
 * The process then has to end by itself; whoever started it notices when it does not.
 */
import { createHarness } from './harness.ts';

const moment = process.argv[2];
const h = createHarness({
  missing: moment === 'missing',
  settings: moment === 'no-notices' ? { sweepIntervalMs: 50 } : { missingRetryMs: 60_000 },
});
if (moment === 'initializing') for (let i = 0; i < 500; i += 1) h.put(`file-${i}.pdf`);
h.watched.start();
if (moment === 'ready' || moment === 'missing') await h.watched.ready;
if (moment === 'busy') {
  await h.watched.ready;
  for (let i = 0; i < 2_000; i += 1) h.put(`file-${i}.pdf`);
  await h.until(() => h.offers.length >= 100);
}
if (moment === 'no-notices') {
  await h.watched.ready;
  h.put('a.pdf');
  await h.until(() => h.offers.length === 1);
  process.stdout.write(`${h.watched.state().notices} ${h.offers[0]?.seen}\n`);
}
await h.close();
process.stdout.write('stopped\n');
