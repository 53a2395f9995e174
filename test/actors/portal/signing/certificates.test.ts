/** Whose certificates participants may sign with, and on whose word. Source: docs/portal-values.md §10; docs/batch-values.md §6.5. */
import test, { type ExecutionContext } from 'ava';
import type { SigningAccess } from '../../../../actors/portal/api.ts';
import { NO_TRUST, type TrustOptions } from '../../../../actors/shared/trust.ts';
import { issueCertificate } from '../../../../crypto/x509/issue.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../../machines/ids.ts';
import type { DocumentContext } from '../../../../machines/portal/document/document-context.ts';
import { startAuthority } from '../../../pki/authority.ts';
import { keyOf, pki, type TestSigner, testSigner } from '../../../pki/pki.ts';
import { type FlowRoom, flowRoom, ORIGIN, person, refusedAs, signer } from '../documents/flow-harness.ts';

const NUMBERS = { ana: '39053344705', bo: '52998224725', cy: '11144477735' } as const;
const POSITIONS = { positions: [], initialsPositions: [] };

/** Everything a certificate of theirs is judged, and the first step of a signature with it. */
async function begin(room: FlowRoom, access: SigningAccess, own: TestSigner) {
  const started = await room.portal.signing.startCertificate(access, {
    certificate: own.certificate,
    positions: [],
  });
  const sign = () => ({
    token: started.token ?? '',
    signature: own.key.sign(started.toSign ?? Buffer.alloc(0), {
      scheme: own.keyType === 'rsa' ? 'rsa-pkcs1' : 'ecdsa',
      digest: 'sha256',
    }),
  });
  return { ...started.validationResults, success: started.success, sign };
}

async function contextOf(room: FlowRoom, id: DocumentId): Promise<DocumentContext> {
  const actor = await room.runtime.system.read({ kind: 'document', id });
  if (actor === undefined) throw new Error('the document is missing');
  return actor.context as DocumentContext;
}

async function judged(t: ExecutionContext, trust: TrustOptions, own: TestSigner, allowUnproven = false) {
  const room = await flowRoom(t, { trust, allowUnproven });
  const id = await room.create([{ user: person('Cy') }]);
  const { success, errors, warnings } = await begin(room, await room.ticket(id, 'cy@example.org'), own);
  await room.close();
  return [success, ...[...errors, ...warnings].map(({ type }) => type)];
}

test.serial(
  'without trusted roots a certificate signs with a warning where permitted, and is refused elsewhere',
  async (t) => {
    const own = pki().signer('rsa-2048');
    t.deepEqual(await judged(t, NO_TRUST, own, true), [true, 'certificate.unproven']);
    t.deepEqual(await judged(t, NO_TRUST, own), [false, 'certificate.unproven']);
  },
);

test.serial(
  'with trusted roots a certificate without a path to one is refused, regardless of the permission',
  async (t) => {
    const trust = { ...NO_TRUST, roots: [pki().otherRoot.certificate] };
    t.deepEqual(await judged(t, trust, pki().signer('rsa-2048'), true), [false, 'certificate.untrusted']);
  },
);

test.serial(
  'a revoked certificate of a participant is refused, also when the sealing profile checks no revocation',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const trust: TrustOptions = {
      ...NO_TRUST,
      allowPrivate: true,
      roots: [authority.pki.root.certificate],
      intermediates: [authority.pki.issuing.certificate],
      revocation: 'hard',
    };
    const revoked = authority.pki.freshSigner();
    authority.revoke(revoked.certificate, Date.now() - 3_600_000);
    t.deepEqual(await judged(t, trust, revoked), [false, 'certificate.revoked']);
    t.deepEqual(await judged(t, trust, authority.pki.freshSigner()), [true]);
    authority.break('ocsp', 'down');
    authority.break('crl', 'down');
    t.deepEqual(await judged(t, trust, authority.pki.freshSigner()), [false, 'certificate.unchecked']);
  },
);

test.serial(
  'a signature completed by its token alone is attributed to the application that opened the page',
  async (t) => {
    const room = await flowRoom(t);
    const id = await room.create([{ user: person('Cy') }]);
    const access = await room.ticket(id, 'cy@example.org');
    const { sign } = await begin(room, access, pki().signer('rsa-2048'));
    const { key } = await room.get(id);
    const done = await room.portal.signing.completeCertificate({ by: 'token', key }, sign(), ORIGIN);
    t.true(done.success);
    await room.until(id, ({ status }) => status === 'Concluded');
    t.like(await contextOf(room, id), {
      made: [
        {
          kind: 'certificate',
          evidence: { authenticationTypes: ['Application'], authenticatedApplication: { name: 'App' } },
        },
      ],
    });
  },
);

/** A certificate whose holder has a national number. */
function holding(number: string): TestSigner {
  const { publicKey, privateKey } = keyOf('p-256');
  const { issuing } = pki();
  const certificate = issueCertificate({
    subject: { country: 'XX', commonName: `SOMEBODY:${number}` },
    issuer: { country: 'XX', organization: 'Sealwright tests', commonName: issuing.name },
    publicKey,
    issuerKey: issuing.key,
    serial: Buffer.from(number, 'latin1'),
    notBefore: Date.now() - 86_400_000,
    notAfter: Date.now() + 86_400_000,
    use: { kind: 'signer', purposes: ['1.3.6.1.5.5.7.3.4'] },
  });
  return testSigner(privateKey, certificate, [issuing.certificate]);
}

async function ruleRoom(t: ExecutionContext) {
  const room = await flowRoom(t);
  const id = await room.create([
    {
      type: 'SignRule',
      allowElectronicSignature: true,
      numberRequiredSignatures: 2,
      signRuleUsers: [
        person('Ana', { identifier: NUMBERS.ana }),
        person('Bo', { identifier: NUMBERS.bo }),
        person('Eve', { identifier: NUMBERS.cy }),
      ],
    },
  ]);
  const [rule] = (await room.get(id)).flowActions;
  const byKey = (userId?: string): SigningAccess => ({
    by: 'key',
    tenant: room.tenant,
    documentId: id,
    flowActionId: rule?.id as FlowActionId,
    ...(userId !== undefined && { userId: userId as UserId }),
  });
  return { room, id, users: rule?.ruleUsers ?? [], byKey };
}

const signedBy = async (room: FlowRoom, id: DocumentId) =>
  (await room.get(id)).flowActions[0]?.ruleUsers.flatMap(({ name, signatureDate }) =>
    signatureDate === null ? [] : [name],
  );

test.serial(
  'an application that signs for a rule names the person, and no person is chosen by order',
  async (t) => {
    const { room, id, users, byKey } = await ruleRoom(t);
    const { signing } = room.portal;
    await refusedAs(t, 'InvalidFlowAction', signing.signElectronically(byKey(), POSITIONS, ORIGIN));
    const stranger = byKey(crypto.randomUUID());
    await refusedAs(t, 'FlowActionNotFound', signing.signElectronically(stranger, POSITIONS, ORIGIN));
    await signing.signElectronically(byKey(users[1]?.id), POSITIONS, ORIGIN);
    await room.until(id, ({ hasSignature }) => hasSignature);
    t.deepEqual(await signedBy(room, id), ['Bo']);
    await refusedAs(
      t,
      'InvalidDocumentStatus',
      signing.signElectronically(byKey(users[1]?.id), POSITIONS, ORIGIN),
    );
  },
);

test.serial('the person of a rule who holds the certificate signs, and another one is refused', async (t) => {
  const { room, id, byKey } = await ruleRoom(t);
  await refusedAs(t, 'CpfNotExpected', begin(room, byKey(), holding('12345678909')));
  const { success, sign } = await begin(room, byKey(), holding(NUMBERS.bo));
  t.true(success);
  t.true((await room.portal.signing.completeCertificate(byKey(), sign(), ORIGIN)).success);
  await room.until(id, ({ hasSignature }) => hasSignature);
  t.deepEqual(await signedBy(room, id), ['Bo']);
});

test.serial('the details of a new version replace those of the previous one', async (t) => {
  const room = await flowRoom(t);
  const first = { fields: { a: '1' } };
  const id = await room.create([signer('Ana')], { additionalInfo: first });
  const stored = async () => (await contextOf(room, id)).additionalInfo;
  await room.portal.documents.newVersion(room.tenant, id, { files: [await room.file()] });
  t.deepEqual(await stored(), first);
  const second = { metadata: { b: '2' } };
  await room.portal.documents.newVersion(room.tenant, id, {
    files: [await room.file()],
    additionalInfo: second,
  });
  t.deepEqual(await stored(), second);
});
