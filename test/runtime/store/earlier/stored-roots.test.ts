/** Roots that programs of earlier days have written (`write-stored-root.ts`) are opened, are complete, and go on. */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test from 'ava';
import { renamedDeadlines } from '#runtime/step/derive.js';
import { migrateStore } from '#runtime/step/migrate.js';
import { definitions } from '../../../../actors/batch/registry.ts';
import { portalDefinitions } from '../../../../actors/portal/registry.ts';
import { startProgram } from '../../../actors/portal/service.ts';
import { startReceiver } from '../../../actors/portal/webhooks/receiver.ts';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { approveNext, approver, detailOf, hashOf, idOf, settingsFor } from './client-recordings.ts';
import { unpackRoot } from './stored-root.ts';

const FOLDER = 'test/fixtures/stores';

test('the machines of the services know every deadline that earlier programs have stored', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-kept-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  unpackRoot(readFileSync(join(FOLDER, '2026-11-21-portal.json.gz')), folder);
  const store = openLmdbStore({ folder: join(folder, 'db') });
  t.teardown(() => store.close());
  const stored = await store.dueTimers(Number.MAX_SAFE_INTEGER, 10_000);
  const unnamed = stored.filter(({ name }) => /^xstate\.after\.\d/.test(name));
  t.true(unnamed.length > 0, 'earlier machines had deadlines without names');
  await migrateStore(store, [...definitions, ...portalDefinitions], { log: { info() {} }, now: 0 });
  for (const { actor } of stored) {
    const { state = '', timers = {} } = (await store.load(actor)) ?? {};
    const definition = [...definitions, ...portalDefinitions].find(({ kind }) => kind === actor.kind);
    const renamed = definition && renamedDeadlines(definition.machine, { state, timers });
    for (const [old, current] of renamed ?? []) t.truthy(current, `${actor.kind} in ${state}: ${old}`);
  }
});

for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('-portal.json.gz'))) {
  test.serial(`both services open the stores of the program of ${name.slice(0, 10)}`, async (t) => {
    t.timeout(120_000);
    const root = mkdtempSync(join(tmpdir(), 'sealwright-kept-'));
    t.teardown(() => rmSync(root, { recursive: true, force: true }));
    const facts = unpackRoot(readFileSync(join(FOLDER, name)), root);
    const kept = new Set(readdirSync(join(root, 'mail')));
    t.is(kept.size, facts.mails);
    const receiver = await startReceiver(t);
    const { service, acme } = await startProgram(t, { root, settings: settingsFor(receiver.url) });
    const details = await Promise.all(facts.documents.map(({ id }) => detailOf(acme, id)));
    t.deepEqual(
      details.map(({ id, key, status }) => ({ id, key, status })),
      facts.documents,
    );
    // Links and their persons are kept for a year at least.
    if (facts.visit !== undefined && Date.now() - Date.parse(name.slice(0, 10)) < 360 * 86_400_000) {
      const { request, documentId } = facts.visit;
      const visit = () => acme.post<{ documentId: string }>('/api/public-links/documents', request);
      t.is((await visit()).documentId, documentId, 'a visit to a link is answered with its document');
      await t.throwsAsync(
        acme.post('/api/public-links/documents', { ...request, visitId: randomUUID(), code: '' }),
      );
    }
    const jobs = (await service.jobs()).map(({ id, status }) => ({ id, status }));
    t.deepEqual(jobs, facts.jobs);
    // Whoever is asked to act can do so still; what is over stays as it was.
    for (const { id, status } of facts.documents) {
      while (await approveNext(acme, id));
      if (status !== 'Pending') continue;
      await service.until(`document ${id} to be concluded`, async () =>
        (await detailOf(acme, id)).status === 'Concluded' ? true : undefined,
      );
    }
    for (const { id, status } of facts.documents) {
      const now = (await detailOf(acme, id)).status;
      t.is(now, status === 'Pending' ? 'Concluded' : status);
      const content = await acme.fetch(`/api/documents/${id}/content?type=Original`);
      t.is(content.status, 200);
      t.is(Buffer.from(await content.arrayBuffer()).toString('latin1', 0, 5), '%PDF-');
    }
    // Calls without an answer are repeated unchanged, and no event is sent twice under different ids.
    await service.until('every webhook to be told', async () => {
      const delivered = new Set(receiver.calls.map(idOf));
      return facts.untold.every(({ id }) => delivered.has(id)) ? true : undefined;
    });
    for (const { id, sha256 } of facts.untold) {
      for (const call of receiver.calls.filter((one) => idOf(one) === id)) t.is(hashOf(call), sha256, id);
    }
    // Not by their number: those of the root are removed when they are 30 days old.
    await service.until('a mail to be written', async () =>
      readdirSync(join(root, 'mail')).some((mail) => !kept.has(mail)) ? true : undefined,
    );
    const made = await acme.create([approver('Ana', 1)]);
    t.true(await approveNext(acme, made), 'new documents are made beside the old ones');
    const { jobId } = await service.upload('again.pdf', contract());
    t.is((await service.finished(jobId)).status, 'Completed');
    t.is(await service.stop(), 0);
  });
}
