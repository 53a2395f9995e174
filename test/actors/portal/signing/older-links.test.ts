import test from 'ava';
import { ORIGIN, portalFixture, refusedAs, signer } from '../documents/flow-harness.ts';

const NO_MARKS = { positions: [], initialsPositions: [] };

test.serial(
  'a link from before a new version shows it, and signs it only for a caller who names the version',
  async (t) => {
    const fixture = await portalFixture(t);
    const { signing } = fixture.portal;
    const id = await fixture.create([signer('Ana'), signer('Bob')]);
    const { key } = await fixture.get(id);
    const [older, bobs] = [
      await fixture.ticket(id, 'ana@example.org'),
      await fixture.ticket(id, 'bob@example.org'),
    ];
    if (older.by !== 'ticket') throw new Error('a ticket');
    await fixture.portal.documentEdits.newVersion(fixture.tenant, id, {
      file: await fixture.file('second.pdf'),
    });
    const page = await fixture.portal.signingPages.page(key, older.ticket, ORIGIN);
    t.is(page.state, 'ready');
    t.like(page.document, { isNewVersion: true, version: 2, name: 'second' });
    t.true((await fixture.portal.signingPages.pageContent(key, older.ticket)).length > 0);
    await refusedAs(t, 'VersionChanged', signing.signElectronically(older, NO_MARKS, ORIGIN));
    await refusedAs(t, 'VersionChanged', signing.refuse(bobs, 'No.', ORIGIN));
    await refusedAs(
      t,
      'InvalidDocumentStatus',
      signing.signElectronically({ ...older, documentVersion: 1 }, NO_MARKS, ORIGIN),
    );
    t.is((await fixture.get(id)).hasSignature, false);
    await signing.signElectronically({ ...older, documentVersion: 2 }, NO_MARKS, ORIGIN);
    await signing.signElectronically(await fixture.ticket(id, 'bob@example.org'), NO_MARKS, ORIGIN);
    await fixture.until(id, ({ status }) => status === 'Concluded');
  },
);
