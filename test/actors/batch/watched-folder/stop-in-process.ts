/**
 * Run as a process of its own: watches a folder, stops at the moment named by the argument and writes `stopped`.
 * The process then has to end by itself; the parent reports when it does not.
 */
import { chmodSync, closeSync, fchmodSync, openSync } from 'node:fs';
import { systemClock } from '@sealwright/runtime';
import { SampleThread } from '../../../../actors/batch/watched-folder/sample-thread.ts';
import { createHarness } from './harness.ts';

const moment = process.argv[2];
// The superuser may read everything; user 65534 owns nothing.
if (moment === 'unreadable' && process.getuid?.() === 0) process.setuid?.(65_534);
const h = createHarness({
  missing: moment === 'missing',
  settings: {
    sweepIntervalMs: moment === 'no-notices' || moment === 'unreadable' ? 50 : 60_000,
    missingRetryMs: moment === 'unreadable' ? 50 : 60_000,
  },
});
if (moment === 'initializing') for (let i = 0; i < 500; i += 1) h.put(`file-${i}.pdf`);
h.watched.start();
// The first call starts the thread, which then gets no batch.
if (moment === 'unused-thread')
  new SampleThread().take({ requests: [], clock: systemClock, onLost: () => {} });
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
if (moment === 'unreadable') {
  const report = () => process.stdout.write(`${h.watched.state().error} ${h.namesOffered()}\n`);
  h.put('closed.pdf');
  chmodSync(h.at('closed.pdf'), 0o000);
  h.put('open.pdf');
  await h.until(() => h.watched.state().error !== null && h.offers.length === 1);
  report();
  chmodSync(h.at('closed.pdf'), 0o600);
  await h.until(() => h.watched.state().error === null && h.offers.length === 2);
  report();
  const open = openSync(h.at('open.pdf'), 'r');
  chmodSync(h.folder, 0o000);
  // An event of a file that was offered already, while it cannot be sampled.
  fchmodSync(open, 0o600);
  const refused = () => h.lines.some((line) => line.properties.File === 'open.pdf');
  await h.until(() => refused() && (h.watched.state().error?.startsWith('The input folder') ?? false));
  process.stdout.write(`${h.watched.state().error}\n`);
  closeSync(open);
  chmodSync(h.folder, 0o700);
  h.put('later.pdf');
  await h.until(() => h.watched.state().error === null && h.offers.length === 3);
  report();
}
await h.close();
process.stdout.write('stopped\n');
