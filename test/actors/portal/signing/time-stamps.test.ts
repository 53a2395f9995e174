import test from 'ava';
import { startAuthority } from '../../../pki/authority.ts';
import { pki } from '../../../pki/pki.ts';
import { runTool } from '../../../verifiers/index.ts';
import { flowRoom, ORIGIN, person, signer } from '../documents/flow-harness.ts';

test.serial(
  'a document with a requested time-stamp gets it at its end, and shows that it waits while the authority is unavailable',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const choices = { timestamp: { url: authority.timestampUrl, timeoutMs: 5_000 } };
    const room = await flowRoom(t, { choices });
    authority.break('timestamp', 'busy');
    const id = await room.create([signer('Ana')], { timestampEnabled: true });
    await room.sign(id, 'ana@example.org');
    const waiting = await room.until(id, ({ processingError }) => processingError !== null);
    t.is(waiting.status, 'FlowConcluded');
    t.regex(waiting.processingError?.code ?? '', /^authority\./);
    authority.mend('timestamp');
    await room.portal.documents.retryProcessing(room.tenant, id);
    await room.until(id, ({ status }) => status === 'Concluded');
    const { stdout } = await runTool('pdfsig', ['-nocert', await room.signedFile(id)]);
    // This pdfsig sees the time-stamp, over the whole file, and calls its type unknown.
    t.regex(stdout, /Authority time-stamps[\s\S]*Total document signed/);
    t.is(stdout.match(/Signature is Valid/g)?.length, 1);
    const { signers } = await room.portal.validation.byDocument(room.tenant, id);
    t.deepEqual(
      signers.map(({ isTimestamp, isElectronic }) => [isTimestamp, isElectronic]),
      [
        [false, true],
        [true, false],
      ],
    );
  },
);

test.serial(
  'seals and certificate signatures of a profile above level B carry time-stamps of their own',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const timestamp = { url: authority.timestampUrl, timeoutMs: 5_000 };
    const room = await flowRoom(t, { choices: { level: 'T', timestamp } });
    const id = await room.create([signer('Ana'), { user: person('Cy'), step: 1 }]);
    await room.sign(id, 'ana@example.org');
    await room.until(id, ({ flowActions: [first] }) => first?.status === 'Completed');
    const access = await room.ticket(id, 'cy@example.org');
    const { certificate, key } = pki().signer('rsa-2048');
    const { toSign, token } = await room.portal.signing.startCertificate(access, {
      certificate,
      positions: [],
    });
    if (toSign === null || token === null) throw new Error('nothing to sign');
    const signature = key.sign(toSign, { scheme: 'rsa-pkcs1', digest: 'sha256' });
    t.true((await room.portal.signing.completeCertificate(access, { token, signature }, ORIGIN)).success);
    await room.until(id, ({ status }) => status === 'Concluded');
    const { signers } = await room.portal.validation.byDocument(room.tenant, id);
    t.deepEqual(
      signers.map(({ signatureTimestamps }) => signatureTimestamps.length),
      [1, 1],
    );
  },
);
