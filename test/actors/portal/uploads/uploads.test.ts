import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import type { Tenant } from '../../../../actors/portal/api.ts';
import { UPLOAD } from '../../../../actors/portal/uploads/uploads.ts';
import type { DocumentId, FlowActionId, UploadId, UserId } from '../../../../machines/ids.ts';
import {
  UNUSED_LIFETIME_MS,
  type UploadParticipant,
  USED_LIFETIME_MS,
} from '../../../../machines/portal/upload.ts';
import { newTenant, type PortalStoreFixture, portalStoreFixture } from './upload-harness.ts';

async function send(
  it: PortalStoreFixture,
  tenant: Tenant,
  {
    content,
    name = 'a.pdf',
    type = 'application/pdf',
  }: { readonly content: string; readonly name?: string | undefined; readonly type?: string | undefined },
) {
  const sink = await it.uploads.open();
  await sink.write(Buffer.from(content));
  return it.uploads.accept(tenant, sink, { name, contentType: type });
}

test('an upload reports the received content and exists after a restart', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const view = await send(it, tenant, {
    content: 'hello',
    name: 'C:\\temp\\a b\u0000.pdf',
    type: 'Application/PDF; charset=UTF-8',
  });
  t.like(view, {
    name: 'a b.pdf',
    contentType: 'application/pdf',
    size: 5,
    md5: 'XUFAKrxLKna5cZ2REBfFkg==',
    sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  });
  await it.close();
  const again = await portalStoreFixture(t, { root: it.root });
  const found = await again.uploads.findUpload(tenant.organization.id, view.id.toUpperCase());
  t.is(found.name, 'a b.pdf');
  t.is(readFileSync(again.blobs.pathOf(found.blob), 'utf8'), 'hello');
});

test('the location of an upload shows the file without a key, for an hour', async (t) => {
  const it = await portalStoreFixture(t);
  const { location, id, sha256 } = await send(it, await newTenant(it, 'Org'), { content: 'hello' });
  t.regex(location, new RegExp(`^/api/uploads/${id}/preview\\?ticket=[\\w-]+$`));
  const ticket = location.split('=')[1] ?? '';
  const shown = await it.uploads.preview(ticket);
  t.like(shown, { contentType: 'application/pdf', fileName: 'a.pdf', length: 5, etag: `"${sha256}"` });
  t.is(readFileSync(shown.path, 'utf8'), 'hello');
  await t.throwsAsync(it.uploads.preview(`${ticket}x`), { code: 'NotFound' });
  it.clock.forward(3_600_001 + 1_000);
  await t.throwsAsync(it.uploads.preview(ticket), { code: 'NotFound' });
});

test('an upload of another organization and an invalid id are unknown', async (t) => {
  const it = await portalStoreFixture(t);
  const mine = await newTenant(it, 'Mine');
  const theirs = await newTenant(it, 'Theirs');
  const { id } = await send(it, theirs, { content: 'secret' });
  for (const other of [id, '00000000-0000-4000-8000-000000000000', 'nonsense', '../..', '']) {
    await t.throwsAsync(it.uploads.findUpload(mine.organization.id, other), { code: 'UploadNotFound' });
  }
});

test('an upload of a participant is found only for that participant, and counted until it expires', async (t) => {
  const it = await portalStoreFixture(t);
  const { organization } = await newTenant(it, 'Org');
  const participant = {
    documentId: '00000000-0000-4000-8000-000000000001' as DocumentId,
    flowActionId: '00000000-0000-4000-8000-000000000002' as FlowActionId,
    userId: '00000000-0000-4000-8000-000000000003' as UserId,
  };
  const attach = async (content: string) => {
    const sink = await it.uploads.open();
    await sink.write(Buffer.from(content));
    const file = { name: 'a.pdf', contentType: 'application/pdf', maxBytes: 10 };
    return it.uploads.acceptOf(organization.id, participant, sink, file);
  };
  const find = (...more: readonly UploadParticipant[]) => it.uploads.findUpload(organization.id, id, more[0]);
  await t.throwsAsync(attach('12345678901'), { code: 'PayloadTooLarge' });
  const { id } = await attach('hello');
  await attach('hello again'.slice(0, 10));
  await t.throwsAsync(find(), { code: 'UploadNotFound' });
  for (const [name, other] of Object.entries({ documentId: 'x', flowActionId: 'x', userId: 'x' }))
    await t.throwsAsync(find({ ...participant, [name]: other }), { code: 'UploadNotFound' }, name);
  const both = { files: 2, bytes: 15 };
  t.deepEqual(await it.uploads.usedBy(participant), { own: both, document: both });
  const other = participant.flowActionId as string as UserId;
  t.deepEqual(await it.uploads.usedBy({ ...participant, userId: other }), {
    own: { files: 0, bytes: 0 },
    document: both,
  });
  t.is((await find(participant)).name, 'a.pdf');
  // However often it was used.
  await find(participant);
  await it.runtime.send(UPLOAD, id, { type: 'FORGET' });
  await t.throwsAsync(find(participant), { code: 'UploadNotFound' });
  t.deepEqual((await it.uploads.usedBy(participant)).document, { files: 1, bytes: 10 });
  it.clock.forward(UNUSED_LIFETIME_MS + 60_000);
  await it.settle(async () => (await it.uploads.usedBy(participant)).own.files === 0);
  t.deepEqual((await it.uploads.usedBy(participant)).document, { files: 0, bytes: 0 });
});

test('empty files and files over the limit are refused and leave no file', async (t) => {
  const it = await portalStoreFixture(t, { maxBytes: 10 });
  const tenant = await newTenant(it, 'Org');
  await t.throwsAsync(send(it, tenant, { content: '' }), { code: 'BadRequest' });
  await t.throwsAsync(send(it, tenant, { content: '12345678901' }), { code: 'PayloadTooLarge' });
  t.is((await send(it, tenant, { content: '1234567890' })).size, 10);
  it.clock.forward(10 * 3_600_000);
  t.is((await it.blobs.sweep(it.store)).removed, 0);
});

test('an unused upload is removed after a day, a used one a week after its last use', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const unused = await send(it, tenant, { content: 'unused' });
  const used = await send(it, tenant, { content: 'used' });
  it.clock.forward(UNUSED_LIFETIME_MS - 60_000);
  const { blob } = await it.uploads.findUpload(tenant.organization.id, used.id);
  it.clock.forward(120_000);
  const there = async (id: string) => (await it.runtime.read(UPLOAD, id)) !== undefined;
  await it.settle(async () => !(await there(unused.id)));
  t.true(await there(used.id));
  it.clock.forward(3_600_000 * 2);
  t.is((await it.blobs.sweep(it.store)).removed, 1);
  t.true(existsSync(it.blobs.pathOf(blob)));
  await it.close();

  const later = await portalStoreFixture(t, { root: it.root });
  later.clock.forward(UNUSED_LIFETIME_MS + USED_LIFETIME_MS + 3_600_000);
  await later.settle(async () => (await later.runtime.read(UPLOAD, used.id)) === undefined);
  t.is((await later.blobs.sweep(later.store)).removed, 1);
  t.false(existsSync(later.blobs.pathOf(blob)));
});

test('a call that has made its documents does not fail for uses that its upload cannot take now', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const { id } = await send(it, tenant, { content: 'hello' });
  // More messages than wait for an actor.
  await t.notThrowsAsync(it.uploads.use(Array.from({ length: 400 }, () => id as UploadId)));
  t.is((await it.runtime.read(UPLOAD, id))?.state, 'Used');
});

test('invalid names and types are replaced by safe ones', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const names = ['', '..', 'a/b/', '\u0007', 'x'.repeat(5_000), 'half \ud800 pair', '../../etc/passwd'];
  const kept = await Promise.all(
    names.map(async (name) => (await send(it, tenant, { content: 'x', name, type: 'a b/c' })).name),
  );
  t.deepEqual(kept, ['file', 'file', 'file', 'file', 'x'.repeat(255), 'half  pair', 'passwd']);
  t.is(
    (await send(it, tenant, { content: 'x', name: 'x', type: 'text/html\r\nX: y' })).contentType,
    'application/octet-stream',
  );
});
