/**
 * The process that is killed. Takes uploads, whole and in pieces, and makes keys, and says on standard output what it
 * promised: `upload <id> <sha256>`, `ticket <ticket>`, `piece <ticket> <from>`, `key <key>`.
 */
import { createHash } from 'node:crypto';
import { Faults, systemIds } from '@sealwright/runtime';
import { PIECE_BYTES, pieceContent, TOTAL_BYTES } from './kill-content.ts';
import { newTenant, openPortalStore } from './upload-harness.ts';

const [, , root = ''] = process.argv;
const it = await openPortalStore(root, { faults: Faults.parse(process.env['SEALWRIGHT_FAULTS']) });
it.runtime.start();
const tenant = await newTenant(it, systemIds.uuid());
const { organization, application } = tenant;
const file = { name: 'a.bin', contentType: 'application/octet-stream' };

async function sendWhole(): Promise<void> {
  const content = systemIds.bytes(20_000);
  const sink = await it.uploads.open();
  await sink.write(content);
  const { id } = await it.uploads.accept(tenant, sink, file);
  console.log(`upload ${id} ${createHash('sha256').update(content).digest('hex')}`);
}

async function sendPieces(): Promise<void> {
  const ticket = await it.uploads.openSegmented(tenant);
  console.log(`ticket ${ticket}`);
  for (let from = 0; from < TOTAL_BYTES; from += PIECE_BYTES) {
    const sink = await it.uploads.open();
    await sink.write(pieceContent(from));
    const range = { from, to: from + PIECE_BYTES - 1, total: TOTAL_BYTES };
    await it.uploads.acceptSegment(ticket, range, sink, file);
    console.log(`piece ${ticket} ${from}`);
  }
}

/** Number of keys to keep beside the one that is made: an application has at most two. */
const KEPT_KEYS = 1;
const keys: string[] = [];

async function makeKey(): Promise<void> {
  for (const id of keys.splice(0, keys.length - KEPT_KEYS))
    await it.administration.revokeSecret(organization.id, application.id, id);
  const { id, key } = await it.administration.createSecret(organization.id, application.id);
  keys.push(id);
  console.log(`key ${key}`);
}

async function forEver(task: () => Promise<void>): Promise<never> {
  for (;;) await task();
}

await Promise.all([sendWhole, sendWhole, sendPieces, makeKey].map(forEver));
