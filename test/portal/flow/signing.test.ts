import test from 'ava';
import { pki } from '../../pki/pki.ts';
import { mutool, pdfsig, qpdf } from '../../verifiers/index.ts';
import { flowRoom, person, SCENE, signer } from './flow-room.ts';

test.serial(
  'two participants in two steps sign a PDF electronically, and it is concluded with both signatures good',
  async (t) => {
    const room = await flowRoom(t);
    const mark = { topLeftX: 50, topLeftY: 60, width: 180, height: 60 };
    const id = await room.create([
      signer('Ana', 1, { title: 'Director', prePositionedMarks: [mark] }),
      signer('Bob', 2),
    ]);
    t.deepEqual(
      (await room.get(id)).flowActions.map(({ status }) => status),
      ['Pending', 'Created'],
    );
    await room.sign(id, 'ana@example.org');
    await room.until(id, ({ flowActions: [first] }) => first?.status === 'Completed');
    t.deepEqual(
      (await room.get(id)).flowActions.map(({ status, isElectronic }) => [status, isElectronic]),
      [
        ['Completed', true],
        ['Pending', null],
      ],
    );
    await room.sign(id, 'bob@example.org');
    const done = await room.until(id, ({ status }) => status === 'Concluded');
    t.true(done.hasSignature);
    t.is(done.processingError, null);
    const path = await room.signedFile(id);
    const verdicts = await pdfsig(path, pki());
    t.is(verdicts.length, 2);
    t.true(
      verdicts.every(({ okEarlier }) => okEarlier),
      JSON.stringify(verdicts),
    );
    t.true(verdicts.at(-1)?.coversWholeFile);
    const seen = await mutool(path);
    t.true(
      seen.every(({ unchanged, editedSince }) => unchanged || editedSince),
      JSON.stringify(seen),
    );
    t.is((await qpdf(path)).exit, 0);
    t.deepEqual(
      room.events.map(({ type, sequence }) => [type, sequence]),
      [
        ['DocumentsCreated', 1],
        ['DocumentSigned', 2],
        ['DocumentSigned', 3],
        ['DocumentConcluded', 4],
      ],
    );
    t.deepEqual(room.complaints, []);
  },
);

test.serial(
  'a participant signs with an own certificate in two calls, beside somebody who signs electronically',
  async (t) => {
    const room = await flowRoom(t);
    const id = await room.create([{ user: person('Cy'), step: 0 }, signer('Ana', 0)]);
    const access = await room.ticket(id, 'cy@example.org');
    const cy = pki().signer('rsa-2048');
    const started = await room.portal.signing.startCertificate(access, {
      certificate: cy.certificate,
      positions: [{ topLeftX: 10, topLeftY: 10, width: 100, height: 40, pageNumber: 1 }],
    });
    t.true(started.success, JSON.stringify(started.validationResults));
    const { toSign, token } = started;
    if (toSign === null || token === null) throw new Error('nothing to sign');
    const signature = cy.key.sign(toSign, { scheme: 'rsa-pkcs1', digest: 'sha256' });
    const completed = await room.portal.signing.completeCertificate(access, { token, signature }, SCENE);
    t.true(completed.success, JSON.stringify(completed.validationResults));
    await room.sign(id, 'ana@example.org');
    await room.until(id, ({ status }) => status === 'Concluded');
    const verdicts = await pdfsig(await room.signedFile(id), pki());
    t.is(verdicts.length, 2);
    t.true(
      verdicts.every(({ okEarlier }) => okEarlier),
      JSON.stringify(verdicts),
    );
    await t.throwsAsync(room.portal.signing.completeCertificate(access, { token, signature }, SCENE), {
      message: /ticket/,
    });
  },
);
