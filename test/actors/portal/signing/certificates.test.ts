/** Whose certificates participants may sign with, and on whose word. Source: docs/portal-values.md §10; docs/batch-values.md §6.5. */
import test, { type ExecutionContext } from 'ava';
import type { SigningAccess } from '../../../../actors/portal/api.ts';
import { DOCUMENT } from '../../../../actors/portal/document-records/document-index.ts';
import { NO_TRUST, type TrustOptions } from '../../../../actors/shared/signing/trust-options.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../../machines/ids.ts';
import type { DocumentContext } from '../../../../machines/portal/documents/document-context.ts';
import { startAuthority } from '../../../pki/authority.ts';
import { pki, signerHolding, type TestSigner } from '../../../pki/pki.ts';
import {
  ORIGIN,
  type PortalFixture,
  person,
  portalFixture,
  refusedAs,
  signer,
} from '../documents/flow-harness.ts';

const NUMBERS = { ana: '39053344705', bo: '52998224725', cy: '11144477735' } as const;
const POSITIONS = { positions: [], initialsPositions: [] };

/** Everything a certificate of theirs is judged, and the first step of a signature with it. */
async function begin(fixture: PortalFixture, access: SigningAccess, own: TestSigner) {
  const started = await fixture.portal.signing.startCertificate(access, {
    certificate: own.certificate,
    positions: [],
  });
  const sign = () => ({
    token: started.token ?? '',
    signature: own.key.sign(Buffer.from(started.toSign ?? '', 'base64'), {
      scheme: own.keyType === 'rsa' ? 'rsa-pkcs1' : 'ecdsa',
      digest: 'sha256',
    }),
  });
  return { ...started.validationResults, success: started.success, sign };
}

async function contextOf(fixture: PortalFixture, id: DocumentId): Promise<DocumentContext> {
  const actor = await fixture.runtime.read(DOCUMENT, id);
  if (actor === undefined) throw new Error('the document is missing');
  return actor.context as DocumentContext;
}

async function judged(t: ExecutionContext, trust: TrustOptions, own: TestSigner, allowUnproven = false) {
  const fixture = await portalFixture(t, { trust, allowUnproven });
  const id = await fixture.create([{ user: person('Cy') }]);
  const { success, errors, warnings } = await begin(fixture, await fixture.ticket(id, 'cy@example.org'), own);
  await fixture.close();
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
    const fixture = await portalFixture(t);
    const id = await fixture.create([{ user: person('Cy') }]);
    const access = await fixture.ticket(id, 'cy@example.org');
    const { sign } = await begin(fixture, access, pki().signer('rsa-2048'));
    const { key } = await fixture.get(id);
    const done = await fixture.portal.signing.completeCertificate({ by: 'token', key }, sign(), ORIGIN);
    t.true(done.success);
    await fixture.until(id, ({ status }) => status === 'Concluded');
    t.like(await contextOf(fixture, id), {
      made: [
        {
          kind: 'certificate',
          evidence: { authenticationTypes: ['Application'], authenticatedApplication: { name: 'App' } },
        },
      ],
    });
  },
);

async function ruleFixture(t: ExecutionContext) {
  const fixture = await portalFixture(t);
  const id = await fixture.create([
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
  const [rule] = (await fixture.get(id)).flowActions;
  const byKey = (userId?: string): SigningAccess => ({
    by: 'key',
    tenant: fixture.tenant,
    documentId: id,
    flowActionId: rule?.id as FlowActionId,
    ...(userId !== undefined && { userId: userId as UserId }),
  });
  return { fixture, id, users: rule?.signRuleUsers ?? [], byKey };
}

const signedBy = async (fixture: PortalFixture, id: DocumentId) =>
  (await fixture.get(id)).flowActions[0]?.signRuleUsers.flatMap(({ name, signatureDate }) =>
    signatureDate === null ? [] : [name],
  );

test.serial(
  'an application that signs for a rule names the person, and no person is chosen by order',
  async (t) => {
    const { fixture, id, users, byKey } = await ruleFixture(t);
    const { signing } = fixture.portal;
    await refusedAs(t, 'InvalidFlowAction', signing.signElectronically(byKey(), POSITIONS, ORIGIN));
    const unknownKey = byKey(crypto.randomUUID());
    await refusedAs(t, 'FlowActionNotFound', signing.signElectronically(unknownKey, POSITIONS, ORIGIN));
    await signing.signElectronically(byKey(users[1]?.id), POSITIONS, ORIGIN);
    await fixture.until(id, ({ hasSignature }) => hasSignature);
    t.deepEqual(await signedBy(fixture, id), ['Bo']);
    await refusedAs(
      t,
      'InvalidDocumentStatus',
      signing.signElectronically(byKey(users[1]?.id), POSITIONS, ORIGIN),
    );
  },
);

test.serial('the person of a rule who holds the certificate signs, and another one is refused', async (t) => {
  const { fixture, id, byKey } = await ruleFixture(t);
  await refusedAs(t, 'CpfNotExpected', begin(fixture, byKey(), signerHolding('12345678909')));
  const { success, sign } = await begin(fixture, byKey(), signerHolding(NUMBERS.bo));
  t.true(success);
  t.true((await fixture.portal.signing.completeCertificate(byKey(), sign(), ORIGIN)).success);
  await fixture.until(id, ({ hasSignature }) => hasSignature);
  t.deepEqual(await signedBy(fixture, id), ['Bo']);
});

test.serial('the details of a new version replace those of the previous one', async (t) => {
  const fixture = await portalFixture(t);
  const first = { fields: { a: '1' } };
  const id = await fixture.create([signer('Ana')], { additionalInfo: first });
  const stored = async () => (await contextOf(fixture, id)).additionalInfo;
  await fixture.portal.documentEdits.newVersion(fixture.tenant, id, { file: await fixture.file() });
  t.deepEqual(await stored(), first);
  const second = { metadata: { b: '2' } };
  await fixture.portal.documentEdits.newVersion(fixture.tenant, id, {
    file: await fixture.file(),
    additionalInfo: second,
  });
  t.deepEqual(await stored(), second);
});
