/**
 * Opens many damaged copies of a store, reads each that opens, and writes into it. Prints each damage before it opens
 * the copy, so that the last line names the one that ended the process.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { A, stepOf } from '../../contract/steps.ts';

const [, , folder = '', work = '', every = '1'] = process.argv;
const PAGE = 4096;

const good = join(folder, 'good');
const store = openLmdbStore({ folder: good });
for (let number = 0; number < 60; number += 1) {
  const actor = { kind: 'x', id: `a${number}` };
  await store.commit(
    stepOf(actor, 0, {
      rows: {
        put: [{ view: 'v', key: [number], value: 'y'.repeat(number % 3 === 0 ? 6000 : 600) }],
        remove: [],
      },
    }),
  );
}
await store.close();
const bytes = readFileSync(join(good, 'data.mdb'));

const noise = (seed: string, length: number) =>
  Buffer.concat(
    Array.from({ length: Math.ceil(length / 32) }, (_, part) =>
      createHash('sha256').update(`${seed} ${part}`).digest(),
    ),
  ).subarray(0, length);
const overwritten = (at: number, by: Buffer) => {
  const copy = Buffer.from(bytes);
  by.copy(copy, at);
  return copy;
};

const damages: [string, Buffer][] = [];
for (let page = 0; page * PAGE < bytes.length; page += 1) {
  damages.push([`cut at page ${page}`, bytes.subarray(0, page * PAGE)]);
  damages.push([`cut in page ${page}`, bytes.subarray(0, page * PAGE + 1 + ((page * 977) % (PAGE - 1)))]);
  damages.push([`zeros at page ${page}`, overwritten(page * PAGE, Buffer.alloc(PAGE))]);
  damages.push([`noise at page ${page}`, overwritten(page * PAGE, noise(`page ${page}`, PAGE))]);
  // The number of the page stays right.
  damages.push([`noise in page ${page}`, overwritten(page * PAGE + 18, noise(`in ${page}`, 200))]);
  const at = page * PAGE + 24 + ((page * 53) % (PAGE - 40));
  damages.push([`sixteen bytes in page ${page}`, overwritten(at, noise(`few ${page}`, 16))]);
}
for (const head of [0, PAGE])
  for (let at = 0; at < 176; at += 8)
    damages.push([`head ${head} at ${at}`, overwritten(head + at, noise(`head ${at}`, 8))]);
damages.push(['random bytes', noise('all', 50_000)], ['text', Buffer.from('not a database\n'.repeat(1000))]);

let refused = 0;
const tried = damages.filter((_, index) => index % Number(every) === 0);
for (const [name, content] of tried) {
  process.stdout.write(`${name}: `);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  writeFileSync(join(work, 'data.mdb'), content);
  // Of the store that was closed in order.
  writeFileSync(join(work, 'closed'), readFileSync(join(good, 'closed')));
  writeFileSync(join(work, 'last-backup'), '/backups/last');
  try {
    const opened = openLmdbStore({ folder: work });
    let found = 'opened';
    try {
      await opened.actors({ kind: 'x', limit: 1000 });
      await opened.rows({ view: 'v', limit: 1000 });
      await opened.counters('');
      await opened.commit(stepOf(A, 0));
    } catch (error) {
      const { code } = error as { code?: string };
      found = code === 'store.damaged' ? 'read in part' : `opened, ${String(error).slice(0, 80)}`;
    }
    await opened.close();
    process.stdout.write(`${found}\n`);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    refused += 1;
    process.stdout.write(
      `${code === 'store.damaged' && message.includes('cp -a /backups/last/. ') ? 'refused' : `other: ${code} ${message}`}\n`,
    );
  }
}
process.stdout.write(`${JSON.stringify({ tried: tried.length, refused })}\n`);
process.exit(0);
