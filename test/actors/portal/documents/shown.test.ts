/** Everything that was sent or shown to somebody is good for that person and that file alone. */
import test from 'ava';
import { reason } from '../../../../contracts/portal/documents.ts';
import { pki } from '../../../pki/pki.ts';
import { reached } from '../../../project/waiting.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { approver, ORIGIN, person, portalFixture, refusedAs, signer } from './flow-harness.ts';

const toolTest = withTools(test, 'pdftotext');

const PLAIN = { positions: [], initialsPositions: [] };

test.serial('a link is invalid once its participant has another address', async (t) => {
  const fixture = await portalFixture(t);
  const { signing } = fixture.portal;
  const id = await fixture.create([signer('Ana'), approver('Bob')]);
  const [ana, bob] = (await fixture.get(id)).flowActions;
  const anas = await fixture.ticket(id, 'ana@example.org');
  const bobs = await fixture.ticket(id, 'bob@example.org');
  const edit = (flowActionId: string, participantEmailAddress: string) =>
    fixture.portal.documentEdits.editFlow(fixture.tenant, id, {
      editedFlowActions: [{ flowActionId, participantEmailAddress }],
    });
  await edit(bob?.id ?? '', 'robert@example.org');
  await refusedAs(t, 'InvalidTicket', signing.approve(bobs, ORIGIN));
  await refusedAs(t, 'InvalidTicket', signing.refuse(bobs, 'No.', ORIGIN));
  // The same address in another spelling is the same person.
  await edit(ana?.id ?? '', 'Ana@Example.org');
  await signing.signElectronically(anas, PLAIN, ORIGIN);
  await signing.approve(await fixture.ticket(id, 'robert@example.org'), ORIGIN);
  const { flowActions } = await fixture.until(id, ({ status }) => status === 'Concluded');
  t.deepEqual(
    flowActions.map(({ user, status }) => [user?.email, status]),
    [
      ['Ana@Example.org', 'Completed'],
      ['robert@example.org', 'Completed'],
    ],
  );
});

test.serial('a participant cannot sign or approve a version that is newer than the one shown', async (t) => {
  const fixture = await portalFixture(t);
  const { signing } = fixture.portal;
  const id = await fixture.create([signer('Ana'), approver('Bob')]);
  const shown = async (email: string, documentVersion: number) => {
    const access = await fixture.ticket(id, email);
    if (access.by !== 'ticket') throw new Error('a ticket');
    return { ...access, documentVersion };
  };
  await fixture.portal.documentEdits.newVersion(fixture.tenant, id, {
    file: await fixture.file('second.pdf'),
  });
  const sign = async (version: number) =>
    signing.signElectronically(await shown('ana@example.org', version), PLAIN, ORIGIN);
  await refusedAs(t, 'InvalidDocumentStatus', sign(1));
  await refusedAs(t, 'InvalidDocumentStatus', signing.approve(await shown('bob@example.org', 1), ORIGIN));
  await sign(2);
  await signing.approve(await shown('bob@example.org', 2), ORIGIN);
  await fixture.until(id, ({ status }) => status === 'Concluded');
});

test.serial('names of documents and envelopes are not paths, and their files are not folders', async (t) => {
  const fixture = await portalFixture(t);
  const file = { ...(await fixture.file()), displayName: 'Invoice 03/2026' };
  const id = await fixture.create([signer('Ana')], { files: [file] });
  t.is((await fixture.get(id)).name, 'Invoice 03/2026');
  const envelope = { files: [file, file], isEnvelope: true, envelopeName: 'Papers 11/2026' };
  const { name, filename } = await fixture.get(await fixture.create([signer('Ana')], envelope));
  t.deepEqual([name, filename], ['Papers 11/2026', 'Papers 11-2026.pdf']);
});

test.serial(
  'a new version is announced by its new name, to observers only after a silent start',
  async (t) => {
    const fixture = await portalFixture(t);
    const observers = [{ user: person('Obs') }];
    const id = await fixture.create([signer('Ana')], { disablePendingActionNotifications: true, observers });
    const newVersion = async (displayName: string, disablePendingActionNotifications: boolean) => {
      const file = { ...(await fixture.file()), displayName };
      await fixture.portal.documentEdits.newVersion(fixture.tenant, id, {
        file,
        disablePendingActionNotifications,
      });
    };
    const mailed = (name: string) =>
      fixture.mails.filter(({ subject }) => subject.includes(name)).map(({ to }) => to.address);
    await newVersion('Silent', true);
    await reached(() => mailed('Silent').includes('obs@example.org'));
    await newVersion('Announced', false);
    // Ana learns of the version and of her turn.
    await reached(() => mailed('Announced').length === 3);
    t.deepEqual(mailed('Announced').sort(), ['ana@example.org', 'ana@example.org', 'obs@example.org']);
    t.deepEqual(mailed('Silent'), ['obs@example.org']);
  },
);

test.serial('a started signature is completed by its token alone, under its own key', async (t) => {
  const fixture = await portalFixture(t);
  const { signing } = fixture.portal;
  const id = await fixture.create([signer('Ana'), signer('Bob')]);
  const other = await fixture.get(await fixture.create([signer('Ana')]));
  const { certificate, key: secret } = pki().signer('rsa-2048');
  const access = await fixture.ticket(id, 'bob@example.org');
  const { toSign, token } = await signing.startCertificate(access, { certificate, positions: [] });
  if (toSign === null || token === null) throw new Error('begun');
  const signature = secret.sign(Buffer.from(toSign, 'base64'), { scheme: 'rsa-pkcs1', digest: 'sha256' });
  const complete = (key: string) =>
    signing.completeCertificate({ by: 'token', key }, { token, signature }, ORIGIN);
  await refusedAs(t, 'InvalidTicket', complete(other.key));
  const anas = await fixture.ticket(id, 'ana@example.org');
  await refusedAs(t, 'InvalidTicket', signing.completeCertificate(anas, { token, signature }, ORIGIN));
  const { key } = await fixture.get(id);
  t.true((await complete(key)).success);
  const { flowActions } = await fixture.get(id);
  t.deepEqual(
    flowActions.map(({ user, status }) => [user?.name, status]),
    [
      ['Ana', 'Pending'],
      ['Bob', 'Completed'],
    ],
  );
  await refusedAs(t, 'InvalidTicket', complete(key));
});

test('a document shows the registration number of its organization from the settings', async (t) => {
  const fixture = await portalFixture(t, {
    tenants: {
      organizations: [{ name: 'Org', identifier: '12.345' }],
      applications: [
        { organization: 'Org', application: 'App', role: 'Normal', secret: 's'.repeat(64), from: 'stored' },
      ],
    },
  });
  const { organization } = await fixture.get(await fixture.create([signer('Ana')]));
  t.deepEqual(organization, {
    id: fixture.tenant.organization.id,
    name: 'Org',
    identifier: '12.345',
    owner: null,
  });
});

toolTest.serial(
  'invisible characters are removed from shown, mailed and printed texts of a document',
  async (t) => {
    const fixture = await portalFixture(t);
    const turned = (text: string) => `\u202e${text}\u200b\u2069`;
    const file = { ...(await fixture.file()), displayName: turned('Lease'), name: `fdp.\u202e.pdf` };
    const ana = signer('Ana', 1, { user: person('Ana', { name: turned('Ana') }), title: turned('Tenant') });
    const id = await fixture.create([ana, signer('Bob', 2)], {
      files: [file],
      description: turned('Read\nthis'),
      tags: [{ label: turned('a'), value: turned('b') }],
    });
    const access = await fixture.ticket(id, 'ana@example.org');
    if (access.by !== 'ticket') throw new Error('a ticket');
    await fixture.portal.signing.signElectronically(
      access,
      { ...PLAIN, typedName: turned('Ana S.') },
      ORIGIN,
    );
    const { key } = await fixture.until(id, ({ flowActions: [one] }) => one?.status === 'Completed');
    await fixture.portal.signing.refuse(
      await fixture.ticket(id, 'bob@example.org'),
      reason.parse(turned('No\nthanks')),
      ORIGIN,
    );
    const refused = await fixture.until(id, ({ status }) => status === 'Refused');
    t.like(refused, {
      name: 'Lease',
      filename: 'fdp..pdf',
      description: 'Read\nthis',
      statusUpdateReason: 'No\nthanks',
    });
    t.like(refused.flowActions[0], { title: 'Tenant', user: { name: 'Ana' } });
    const shown = JSON.stringify([
      refused,
      await fixture.portal.signingPages.page(key, access.ticket, ORIGIN),
      fixture.mails,
    ]);
    t.true(fixture.mails.length > 0);
    const unseen = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|\\u20[0-6]/;
    t.notRegex(shown, unseen);
    const { path } = await fixture.portal.documents.content(fixture.tenant, id, 'PrinterFriendlyVersion');
    const { stdout } = await runTool('pdftotext', ['-layout', '-enc', 'UTF-8', path, '-']);
    t.notRegex(stdout, unseen);
    for (const words of ['Lease', 'Tenant', 'Ana S.']) t.true(stdout.includes(words), stdout);
  },
);
