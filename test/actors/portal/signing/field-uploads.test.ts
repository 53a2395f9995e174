/** Files that participants upload before they sign. Source: docs/fields.md, docs/decisions/0149-uploads-of-participants.md. */

import type { Calls, EffectAttempt, EffectContext } from '@sealwright/runtime';
import test from 'ava';
import type { SigningAccess } from '../../../../actors/portal/api.ts';
import { DOCUMENT } from '../../../../actors/portal/document-records/document-index.ts';
import { forgetParticipantUploadsHandler } from '../../../../actors/portal/documents/remove-files.ts';
import { UPLOAD } from '../../../../actors/portal/uploads/uploads.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../../machines/ids.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { ORIGIN, type PortalFixture, portalFixture, refusedAs, signer } from '../documents/flow-harness.ts';
import { until } from '../service.ts';

const FIELDS = [{ name: 'id', type: 'Attachment' }] as const;
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');

let fixture: PortalFixture;
const shared = endedAfter(test);
test.before(async () => {
  fixture = await portalFixture(shared);
});

async function ticketFor(id: DocumentId, email = 'ana@example.org') {
  const access: SigningAccess = await fixture.ticket(id, email);
  if (access.by !== 'ticket') throw new TypeError('The fixture gives tickets.');
  return access;
}

async function attach(access: Awaited<ReturnType<typeof ticketFor>>, content = PNG) {
  const sink = await fixture.portal.uploads.open();
  await sink.write(content);
  return fixture.portal.signing.acceptFieldUpload(access, 'id', sink, { name: 'me.png', header: PNG });
}

/** Resolves when no upload of participants of the document is left. */
function untilForgotten(id: DocumentId): Promise<true> {
  return until(async () => {
    const rows = await fixture.store.rows({ view: 'participant-uploads', prefix: [id], limit: 1 });
    return rows.length === 0 ? true : undefined;
  });
}

test.serial(
  'a participant uploads at most forty files for an action, also with calls at the same time',
  async (t) => {
    const id = await fixture.create([signer('Ana', 1, { fields: FIELDS })]);
    const ana = await ticketFor(id);
    for (let count = 0; count < 38; count += 1) t.is((await attach(ana)).contentType, 'image/png');
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => attach(ana)));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    t.true(refused.length >= 4, `${refused.length} refused`);
    t.deepEqual([...new Set(refused)], ['LimitExceeded']);
    const rows = await fixture.store.rows({ view: 'participant-uploads', prefix: [id], limit: 100 });
    t.is(rows.length, 44 - refused.length, 'the refused ones are not kept');
    for (let count = rows.length; count < 40; count += 1) await attach(ana);
    await refusedAs(t, 'LimitExceeded', fixture.portal.signing.checkFieldUpload(ana, 'id'));
    await refusedAs(t, 'LimitExceeded', attach(ana));

    const again = await fixture.create([signer('Ana', 1, { fields: FIELDS })]);
    const other = await ticketFor(again);
    await t.notThrowsAsync(fixture.portal.signing.checkFieldUpload(other, 'id'), 'another document');
  },
);

test.serial('the participants of a document upload at most 800 MB together', async (t) => {
  const people = ['Ana', 'Bob', 'Cid'];
  const id = await fixture.create(
    people.map((name) => signer(name, 1, { fields: [{ name, type: 'Attachment' }] })),
  );
  const { flowActions } = await fixture.get(id);
  // As recorded uploads of the first two.
  const blob = { sha256: 'ab'.repeat(32), length: 400_000_000 };
  for (const { id: flowActionId, user } of flowActions.slice(0, 2)) {
    const made = await fixture.runtime.create(UPLOAD, crypto.randomUUID(), {
      organizationId: fixture.tenant.organization.id,
      applicationId: null,
      participant: {
        documentId: id,
        flowActionId: flowActionId as FlowActionId,
        userId: (user?.id ?? '') as UserId,
      },
      name: 'a.png',
      contentType: 'image/png',
      blob,
      md5: '',
      createdAt: Date.now(),
    });
    t.true(made.accepted);
  }
  const last = await ticketFor(id, 'cid@example.org');
  await refusedAs(t, 'LimitExceeded', fixture.portal.signing.checkFieldUpload(last, 'Cid'));
  await fixture.portal.documents.cancel(fixture.tenant, id, 'Wrong file');
  await untilForgotten(id);
});

const ENDS: { readonly [end: string]: (id: DocumentId) => Promise<unknown> } = {
  conclusion: (id) => fixture.sign(id, 'ana@example.org'),
  cancellation: (id) => fixture.portal.documents.cancel(fixture.tenant, id, 'Wrong file'),
  'refusal by the organization': (id) => fixture.portal.documents.refuse(fixture.tenant, id, 'Wrong file'),
  'refusal by the participant': async (id) =>
    fixture.portal.signing.refuse(await fixture.ticket(id, 'ana@example.org'), 'No', ORIGIN),
  deletion: (id) => fixture.portal.documents.remove(fixture.tenant, id),
  expiry: (id) => fixture.runtime.send(DOCUMENT, id, { type: 'EXPIRE' }),
};

for (const [name, end] of Object.entries(ENDS))
  test.serial(`the ${name} of a document ends what its participants uploaded`, async (t) => {
    const make = () => fixture.create([signer('Ana', 1, { fields: FIELDS })]);
    const id = await make();
    const other = await make();
    const { id: unsigned } = await attach(await ticketFor(id));
    const { id: kept } = await attach(await ticketFor(other));
    await end(id);
    await untilForgotten(id);
    await until(async () =>
      (await fixture.runtime.read(UPLOAD, unsigned)) === undefined ? true : undefined,
    );
    t.truthy(await fixture.runtime.read(UPLOAD, kept), 'that of another document');
    const counters = await fixture.store.counters(`participant-uploads/${id}/`);
    t.true(
      Object.values(counters).every((count) => count === 0),
      JSON.stringify(counters),
    );
  });

test.serial(
  'the file that a participant signed with stays when its upload ends with the document',
  async (t) => {
    const id = await fixture.create([signer('Ana', 1, { fields: FIELDS })]);
    const ana = await ticketFor(id);
    const signed = Buffer.concat([PNG, Buffer.from('signed')]);
    const { id: upload } = await attach(ana, signed);
    await attach(ana, Buffer.concat([PNG, Buffer.from('other')]));
    await fixture.portal.signing.signElectronically(
      ana,
      { positions: [], initialsPositions: [], fieldValues: { id: upload } },
      ORIGIN,
    );
    await fixture.until(id, ({ status }) => status === 'Concluded');
    await untilForgotten(id);
    const { attachments } = await fixture.get(id);
    t.is(attachments.length, 1);
    const file = await fixture.portal.documents.attachment(fixture.tenant, id, attachments[0]?.id ?? '');
    t.is(file.length, signed.length);
    const [name] = file.etag.match(/[0-9a-f]{64}/) ?? [];
    t.is((await fixture.store.counters(`blob/${name}`))[`blob/${name}`], 1);
  },
);

test.serial('an upload that is stored while its document ends is refused and not kept', async (t) => {
  const id = await fixture.create([signer('Ana', 1, { fields: FIELDS })]);
  const ana = await ticketFor(id);
  fixture.faults.arm('portal.upload.kept', () =>
    fixture.portal.documents.cancel(fixture.tenant, id, 'Wrong file'),
  );
  await refusedAs(t, 'InvalidDocumentStatus', attach(ana));
  await untilForgotten(id);
});

test.serial(
  'a file for a new version stays when the end of the version before takes effect late',
  async (t) => {
    const id = await fixture.create([signer('Ana', 1, { fields: FIELDS })]);
    let begin = () => {};
    const held = new Promise<void>((resolve) => {
      begin = resolve;
    });
    fixture.faults.arm('effect.leased.before-run/forgetParticipantUploads', () => held);
    await fixture.portal.documents.refuse(fixture.tenant, id, 'Wrong file');
    await fixture.portal.documentEdits.newVersion(fixture.tenant, id, {
      file: await fixture.file('second.pdf'),
    });
    const { id: upload } = await attach(await ticketFor(id));
    begin();
    await until(async () =>
      (await fixture.store.pendingEffects({ kind: 'document', id })).length === 0 ? true : undefined,
    );
    t.truthy(await fixture.runtime.read(UPLOAD, upload));
    await fixture.sign(id, 'ana@example.org');
    await untilForgotten(id);
  },
);

test.serial('each upload of an ended document is asked once to end', async (t) => {
  const id = await fixture.create([signer('Ana')]);
  const participant = {
    documentId: id,
    userId: crypto.randomUUID() as UserId,
    flowActionId: crypto.randomUUID() as FlowActionId,
  };
  const upload = {
    organizationId: fixture.tenant.organization.id,
    applicationId: null,
    participant,
    md5: '',
    name: 'a.png',
    contentType: 'image/png',
    createdAt: Date.now(),
    blob: { sha256: 'cd'.repeat(32), length: 1 },
  };
  const making = Array.from({ length: 150 }, () =>
    fixture.runtime.create(UPLOAD, crypto.randomUUID(), upload),
  );
  await Promise.all(making);
  await fixture.portal.documents.cancel(fixture.tenant, id, 'Wrong file');

  let asked = 0;
  const actors = {
    read: fixture.runtime.read.bind(fixture.runtime),
    // Actors that were stopped accept nothing, and keep their rows.
    async send() {
      asked += 1;
      if (asked > 1_000) throw new Error('The uploads are asked without an end.');
      return { accepted: false, reason: 'stopped' };
    },
  };
  const sweeping = { requestSweep: async () => {} };
  const { run } = forgetParticipantUploadsHandler(
    { actors: actors as object as Calls, store: fixture.store },
    sweeping,
  ).handler;
  const attempt = { actor: { kind: 'document', id } } as unknown as EffectAttempt;
  await run({ do: 'forgetParticipantUploads' }, attempt, {} as EffectContext);
  t.is(asked, 150);
});
