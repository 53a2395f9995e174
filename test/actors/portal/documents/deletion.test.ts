/** Everything that is left of a document that was deleted. Source: docs/portal-values.md §§4, 14. */
import { existsSync, utimesSync } from 'node:fs';
import test from 'ava';
import type { FileInput, Tenant } from '../../../../actors/portal/api.ts';
import type { OrganizationId } from '../../../../machines/ids.ts';
import { systemClock, systemIds } from '../../../../runtime/index.ts';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { type FlowRoom, flowRoom, refusedAs, signer } from './flow-harness.ts';

const HOURS = 3_600_000;

/** Lets it look as if the files had been put there long ago. */
async function filesOf(room: FlowRoom, id: Parameters<FlowRoom['get']>[0]): Promise<string[]> {
  const kinds = ['Original', 'Signatures'] as const;
  const files = await Promise.all(
    kinds.map((kind) => room.portal.documents.content(room.tenant, id, kind).catch(() => undefined)),
  );
  const paths = files.flatMap((file) => (file === undefined ? [] : [file.path]));
  for (const path of paths) utimesSync(path, (Date.now() - 2 * HOURS) / 1000, 0);
  return paths;
}

async function gone(paths: readonly string[]): Promise<void> {
  while (paths.some((path) => existsSync(path))) await systemClock.sleep(5);
}

const isUsable = async (room: FlowRoom, file: FileInput) => room.create([signer('Ana')], { files: [file] });

test.serial('deletion of a document removes its files and its upload', async (t) => {
  const room = await flowRoom(t);
  const file = await room.file();
  const id = await room.create([signer('Ana')], { files: [file] });
  await room.sign(id, 'ana@example.org');
  await room.until(id, ({ status }) => status === 'Concluded');
  const paths = await filesOf(room, id);
  t.is(paths.length, 2);
  await room.portal.documents.remove(room.tenant, id);
  await gone(paths);
  await refusedAs(t, 'UploadNotFound', isUsable(room, file));
});

test.serial('files shared with another document or upload stay until that one is deleted', async (t) => {
  const room = await flowRoom(t);
  const file = await room.file('one.pdf', contract());
  const first = await room.create([signer('Ana')], { files: [file] });
  const second = await room.create([signer('Bo')], { files: [file] });
  const paths = await filesOf(room, first);
  await room.portal.documents.remove(room.tenant, first);
  await done(room, first);
  t.true(paths.every((path) => existsSync(path)));
  const third = await isUsable(room, file);
  await filesOf(room, third);
  await room.portal.documents.remove(room.tenant, second);
  await done(room, second);
  await room.portal.documents.remove(room.tenant, third);
  await gone(paths);
  t.pass();
});

test.serial('the state of an upload does not reveal other owners of the same file', async (t) => {
  const room = await flowRoom(t);
  const { uploads } = room.portal;
  const other: Tenant = {
    ...room.tenant,
    organization: { id: systemIds.uuid() as OrganizationId, name: 'Other' },
  };
  const sink = await uploads.open();
  await sink.write(contract());
  const theirs = await uploads.accept(other, sink, { name: 'theirs.pdf', contentType: 'application/pdf' });
  const file = await room.file('ours.pdf', contract());
  const id = await room.create([signer('Ana')], { files: [file] });
  await room.portal.documents.remove(room.tenant, id);
  await done(room, id);
  await refusedAs(t, 'UploadNotFound', isUsable(room, file));
  t.true(existsSync((await uploads.preview(previewTicket(theirs.location))).path));
});

function previewTicket(location: string): string {
  return location.slice(location.indexOf('=') + 1);
}

async function done(room: FlowRoom, id: string): Promise<void> {
  while ((await room.store.pendingEffects({ kind: 'document', id })).length > 0) await systemClock.sleep(5);
}
