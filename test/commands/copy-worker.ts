/**
 * Copies a store as `sealwright store copy` does, and kills itself while it works on the records after the given
 * number.
 *
 * node copy-worker.js <from> <to> <schema> <records>
 */
import { systemClock } from '@sealwright/runtime';
import { copyStore } from '@sealwright/runtime/copy';
import { openLmdbCopy } from '@sealwright/runtime/lmdb';
import { openPostgresCopy } from '@sealwright/runtime/postgres-parts';

const [, , from = '', to = '', schema = '', records = ''] = process.argv;
const open = (text: string, role: 'source' | 'target') =>
  text.startsWith('postgres:')
    ? openPostgresCopy({ url: text, schema }, role, systemClock)
    : openLmdbCopy(text, role);
const source = await open(from, 'source');
const target = await open(to, 'target');
await copyStore(source, target, (phase, done) => {
  if (phase === 'copy' && done >= Number(records)) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
});
