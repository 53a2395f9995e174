/** Everything that is left of a document that was deleted. Source: docs/portal-values.md §§4, 14. */

import { existsSync, utimesSync } from 'node:fs';
import { systemIds } from '@sealwright/runtime';
import test from 'ava';
import type { Tenant } from '../../../../actors/portal/api.ts';
import type { NewFile } from '../../../../contracts/portal/flow.ts';
import type { OrganizationId } from '../../../../machines/ids.ts';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { reached } from '../../../project/waiting.ts';
import { type PortalFixture, portalFixture, refusedAs, signer } from './flow-harness.ts';

const HOURS = 3_600_000;

/** Lets it look as if the files had been put there long ago. */
async function filesOf(fixture: PortalFixture, id: Parameters<PortalFixture['get']>[0]): Promise<string[]> {
  const kinds = ['Original', 'Signatures'] as const;
  const files = await Promise.all(
    kinds.map((kind) => fixture.portal.documents.content(fixture.tenant, id, kind).catch(() => undefined)),
  );
  const paths = files.flatMap((file) => (file === undefined ? [] : [file.path]));
  for (const path of paths) utimesSync(path, (Date.now() - 2 * HOURS) / 1000, 0);
  return paths;
}

async function gone(paths: readonly string[]): Promise<void> {
  await reached(() => !paths.some((path) => existsSync(path)));
}

const isUsable = async (fixture: PortalFixture, file: NewFile) =>
  fixture.create([signer('Ana')], { files: [file] });

test.serial('deletion of a document removes its files and its upload', async (t) => {
  const fixture = await portalFixture(t);
  const file = await fixture.file();
  const id = await fixture.create([signer('Ana')], { files: [file] });
  await fixture.sign(id, 'ana@example.org');
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const paths = await filesOf(fixture, id);
  t.is(paths.length, 2);
  await fixture.portal.documents.remove(fixture.tenant, id);
  await gone(paths);
  await refusedAs(t, 'UploadNotFound', isUsable(fixture, file));
});

test.serial('files shared with another document or upload stay until that one is deleted', async (t) => {
  const fixture = await portalFixture(t);
  const file = await fixture.file('one.pdf', contract());
  const first = await fixture.create([signer('Ana')], { files: [file] });
  const second = await fixture.create([signer('Bo')], { files: [file] });
  const paths = await filesOf(fixture, first);
  await fixture.portal.documents.remove(fixture.tenant, first);
  await done(fixture, first);
  t.true(paths.every((path) => existsSync(path)));
  const third = await isUsable(fixture, file);
  await filesOf(fixture, third);
  await fixture.portal.documents.remove(fixture.tenant, second);
  await done(fixture, second);
  await fixture.portal.documents.remove(fixture.tenant, third);
  await gone(paths);
  t.pass();
});

test.serial('a refused call does not count as a use of the uploads it names', async (t) => {
  const fixture = await portalFixture(t);
  const file = await fixture.file();
  const unknown = { ...file, id: systemIds.uuid() };
  await refusedAs(t, 'UploadNotFound', fixture.create([signer('Ana')], { files: [file, unknown] }));
  const id = await fixture.create([signer('Ana')], { files: [file] });
  await fixture.portal.documents.remove(fixture.tenant, id);
  await done(fixture, id);
  await refusedAs(t, 'UploadNotFound', isUsable(fixture, file));
});

test.serial('the state of an upload does not reveal other owners of the same file', async (t) => {
  const fixture = await portalFixture(t);
  const { uploads } = fixture.portal;
  const other: Tenant = {
    ...fixture.tenant,
    organization: { id: systemIds.uuid() as OrganizationId, name: 'Other' },
  };
  const sink = await uploads.open();
  await sink.write(contract());
  const theirs = await uploads.accept(other, sink, { name: 'theirs.pdf', contentType: 'application/pdf' });
  const file = await fixture.file('ours.pdf', contract());
  const id = await fixture.create([signer('Ana')], { files: [file] });
  await fixture.portal.documents.remove(fixture.tenant, id);
  await done(fixture, id);
  await refusedAs(t, 'UploadNotFound', isUsable(fixture, file));
  t.true(existsSync((await uploads.preview(previewTicket(theirs.location))).path));
});

function previewTicket(location: string): string {
  return location.slice(location.indexOf('=') + 1);
}

async function done(fixture: PortalFixture, id: string): Promise<void> {
  await reached(async () => (await fixture.store.pendingEffects({ kind: 'document', id })).length === 0);
}
