/** Erasure of people: what goes, what stays, and whom it does not touch. */
import { verifyHistory } from '@sealwright/runtime/history';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../../actors/portal/service.ts';
import { type ClockedPortal, clientOf, clockedPortal } from '../requests/clocked-portal.ts';
import { ANA, ana, bob, canceled, erased, placesOf, who } from './erasures.ts';

async function assertWhole(t: ExecutionContext, { fixture }: ClockedPortal): Promise<void> {
  const report = await verifyHistory(fixture.store, { kinds: ['document', 'mail'] });
  t.is(report.fault, undefined);
}

test('a person goes from documents, lists, mails and history, and everybody else stays', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const id = await canceled(portal, ana(), bob());
  const signed = await fixture.create([ana()], { description: 'Contract of Ana Silva' });
  await fixture.sign(signed, ANA, { typedName: 'Ana Silva' });
  await fixture.until(signed, ({ status }) => status === 'Concluded');
  await until(async () => ((await placesOf(portal, /"Queued"/)).length === 0 ? true : undefined));
  t.true((await placesOf(portal, /ana\.silva/i)).length > 4);

  const report = await erased(portal, 'Ana.Silva@Example.org');
  t.like(report, { erased: 2, kept: 0, refused: 0, keptFor: null });
  t.deepEqual(
    new Set(report.documents.map((one) => `${one.documentId} ${one.outcome}`)),
    new Set([`${id} Deleted`, `${signed} Deleted`]),
  );
  t.notRegex(JSON.stringify(report), /ana/i);
  t.deepEqual(await placesOf(portal, /ana[. ]silva/i), []);
  t.deepEqual(await placesOf(portal, /203\.0\.113\.7/), []);
  t.true((await placesOf(portal, /bob@example\.org/)).includes('document'));
  const history = await fixture.store.journal({ kind: 'document', id });
  t.true(history.some(({ message }) => /bob@example/.test(message)));
  t.true(history.some(({ erased: hash }) => hash?.length === 64));
  await assertWhole(t, portal);
  const answer = await client.fetch(`/api/documents/${signed}`);
  t.is(((await answer.json()) as { code: string }).code, 'DocumentIsDeleted');
  // Nothing is left for another one.
  t.like(await erased(portal, ANA), { erased: 0, kept: 0, refused: 0 });
});

test('each status, role, hold and ground has the outcome of the table', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const open = await fixture.create([ana()]);
  const held = await canceled(portal, ana());
  await client.send(`/api/documents/${held}/hold`, { reason: 'Case 7' }, 'PUT');
  const folder = await client.post<{ id: string }>('/api/folders', { name: 'Court' });
  const inFolder = await canceled(portal, ana());
  await client.post(`/api/documents/${inFolder}/folder`, { folderId: folder.id });
  await client.send(`/api/folders/${folder.id}/hold`, { reason: 'Case 8' }, 'PUT');
  const concluded = await fixture.create([ana()]);
  await fixture.sign(concluded, ANA);
  await fixture.until(concluded, ({ status }) => status === 'Concluded');
  const read = await fixture.create([bob()], {
    observers: [{ user: { name: 'Ana Silva', email: ANA } }],
  } as never);
  await client.post(`/api/documents/${read}/cancellation`, { reason: 'No.' });
  const gone = await canceled(portal, ana());
  await client.send(`/api/documents/${gone}`, undefined, 'DELETE');

  const { documents, ...counts } = await erased(portal, ANA, 'LegalClaims');
  const outcomes = Object.fromEntries(
    documents.map(({ documentId, outcome, code }) => [documentId, code ?? outcome]),
  );
  t.deepEqual(outcomes, {
    [open]: 'InvalidDocumentStatus',
    [held]: 'LegalHold',
    [inFolder]: 'LegalHold',
    [concluded]: 'Kept',
    [read]: 'Erased',
    [gone]: 'Erased',
  });
  t.like(counts, { erased: 2, kept: 1, refused: 3, keptFor: 'LegalClaims' });
  t.is((await client.fetch(`/api/documents/${read}`)).status, 200);
  t.regex(JSON.stringify(await client.get(`/api/documents/${concluded}`)), /ana\.silva/);

  // The reasons end.
  await client.send(`/api/documents/${held}/hold`, { reason: null }, 'PUT');
  await client.post(`/api/documents/${open}/cancellation`, { reason: 'No.' });
  t.like(await erased(portal, ANA), { erased: 3, kept: 0, refused: 1 });
  await assertWhole(t, portal);
});

test('the erasure of one person touches no other one', async (t) => {
  const portal = await clockedPortal(t);
  const { fixture } = portal;
  const other = clientOf(portal, 'Other');
  const others = {
    'the same name': who('Ana Silva', 'another@example.org'),
    'a tag behind the name': who('Ana Tag', 'ana.silva+work@example.org'),
    'a longer address': who('Ana Long', 'mariana.silva@example.org'),
    'another domain': who('Ana Domain', 'ana.silva@example.org.uk'),
  };
  const shared = await canceled(portal, ana(), ...Object.values(others));
  const alone = await Promise.all(Object.values(others).map((one) => canceled(portal, one)));
  const foreign = await other.create([
    { user: { name: 'Ana Silva', email: ANA }, allowElectronicSignature: true },
  ]);
  await other.post(`/api/documents/${foreign}/cancellation`, { reason: 'No.' });
  const report = await erased(portal, ANA);
  t.deepEqual(
    report.documents.map(({ documentId }) => documentId),
    [shared],
  );
  const context = JSON.stringify(await fixture.store.load({ kind: 'document', id: shared }));
  const lines = JSON.stringify(await fixture.store.journal({ kind: 'document', id: shared }));
  t.notRegex(context + lines, /"ana\.silva@example\.org"/);
  for (const { user } of Object.values(others)) {
    t.true(context.includes(String(user?.email)), user?.email ?? '');
    t.true(lines.includes(String(user?.email)), user?.email ?? '');
  }
  t.true(context.includes('Ana Silva'), 'the other one of this name');
  for (const id of alone)
    t.false((await portal.client.get<{ isDeleted?: boolean }>(`/api/documents/${id}`)).isDeleted ?? false);
  t.regex(JSON.stringify(await other.get(`/api/documents/${foreign}`)), /ana\.silva@example\.org/);
  t.like(await other.get('/api/erasures'), { totalCount: 0 });
});
