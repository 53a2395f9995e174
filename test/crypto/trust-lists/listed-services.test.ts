/** Listed services as anchors, against an authority of the test that answers over HTTP. */
import test from 'ava';
import { MemoryOutput } from '#crypto/core/types.js';
import type { EvidenceSource } from '#crypto/evidence/authorities.js';
import { createEvidenceSource, type EvidenceSourceOptions } from '#crypto/evidence/evidence-source.js';
import { signFileAtLevel } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { servicesFor } from '#crypto/qualification/signature-qualification.js';
import { readTrustedList } from '#crypto/qualification/trusted-list.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import type { TestSigner } from '../../pki/pki.ts';
import { listText, providerText, TSA_QTST } from './own-lists.ts';

const DAY = 86_400_000;
const NAME = 'Sealwright tests';
let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority();
});
test.after.always(() => authority.close());

interface Situation {
  readonly level?: 'B' | 'T';
  /** The root is at hand, and trusted by nobody. */
  readonly hasRoot?: boolean;
  /** Time since which time-stamps are granted. */
  readonly granted?: number;
}

async function judged(signer: TestSigner, { level = 'B', hasRoot, granted = 0 }: Situation = {}) {
  const { pki, services, transport } = authority;
  const output = new MemoryOutput();
  const at = Date.now();
  const file = { format: 'Xades', input: Buffer.from('<order/>'), output, signer, at, level } as const;
  await signFileAtLevel(file, services);
  const since = new Date(granted).toISOString();
  const providers =
    providerText(pki.issuing.certificate, [{}], NAME) +
    providerText(pki.stamping.certificate, [{ type: TSA_QTST, since }], NAME);
  const list = readTrustedList(Buffer.from(listText({ territory: 'XX', providers, nextUpdate: at + DAY })));
  const intermediates = hasRoot === true ? [pki.root.certificate] : [];
  const trust = {
    anchors: [],
    intermediates,
    revocation: 'hard',
    lists: { listOf: () => list },
    online: createEvidenceSource({ anchors: [], intermediates, transport }),
  } as const;
  const report = await validateFile({ format: 'Xades', path: output.bytes, trust, at: Date.now() + 1000 });
  const [signature] = report.signatures;
  return { text: JSON.stringify(report), ...signature };
}

test.serial('authorities below a listed service are asked', async (t) => {
  const before = authority.requests.ocsp;
  const found = await judged(authority.pki.freshSigner());
  t.is(found.indication, 'TOTAL-PASSED', found.text);
  t.true(authority.requests.ocsp > before);
  const signer = authority.pki.freshSigner();
  authority.revoke(signer.certificate, Date.now() - 3_600_000);
  const revoked = await judged(signer);
  t.is(revoked.subIndication, 'REVOKED_NO_POE', revoked.text);
});

test.serial(
  'a signature whose path ends at a listed service alone gets its long-term evidence',
  async (t) => {
    const { pki, services, transport } = authority;
    const since = new Date(0).toISOString();
    const providers =
      providerText(pki.issuing.certificate, [{}], NAME) +
      providerText(pki.stamping.certificate, [{ type: TSA_QTST, since }], NAME);
    const list = readTrustedList(
      Buffer.from(listText({ territory: 'XX', providers, nextUpdate: Date.now() + DAY })),
    );
    const lists = { listOf: () => list };
    const source = (listed?: EvidenceSourceOptions['listed']) =>
      createEvidenceSource({ anchors: [], transport, listed });
    const listed: EvidenceSourceOptions['listed'] = (end, others, at) =>
      servicesFor(end, others, { lists, at });
    const signed = async (evidence: EvidenceSource) => {
      const output = new MemoryOutput();
      const signer = pki.freshSigner();
      const file = { format: 'Xades', input: Buffer.from('<order/>'), output, signer } as const;
      await signFileAtLevel({ ...file, at: Date.now(), level: 'LT' }, { ...services, evidence });
      return output.bytes;
    };
    await t.throwsAsync(signed(source()), {
      code: 'revocation.missing',
      message: /no chain to a trust anchor/,
    });
    const path = await signed(source(listed));
    const trust = { anchors: [], revocation: 'hard', lists } as const;
    const report = await validateFile({ format: 'Xades', path, trust, at: Date.now() + 1000 });
    t.like(report.signatures[0], { indication: 'TOTAL-PASSED', level: 'LT' }, JSON.stringify(report));
  },
);

test.serial('a service for time-stamps is no anchor for times before it was granted', async (t) => {
  const signer = authority.pki.freshSigner();
  const good = await judged(signer, { level: 'T' });
  t.is(good.timestamps?.[0]?.indication, 'TOTAL-PASSED', good.text);
  t.like(good.timestamps?.[0]?.qualification, { word: 'QTSA', isIndeterminate: false });
  // Granted between the time-stamp and the time of validation.
  authority.setTime(Date.now() - 3_600_000);
  try {
    const early = await judged(signer, { level: 'T', granted: Date.now() - 1_800_000 });
    t.is(early.timestamps?.[0]?.subIndication, 'NO_CERTIFICATE_CHAIN_FOUND', early.text);
    t.is(early.timestamps?.[0]?.qualification?.word, 'TSA');
  } finally {
    authority.setTime(undefined);
  }
});

test.serial(
  'a listed service that its issuer revoked is no anchor; a missing answer takes nothing away',
  async (t) => {
    authority.break('crl', 'missing');
    const unknown = await judged(authority.pki.freshSigner(), { hasRoot: true });
    t.is(unknown.indication, 'TOTAL-PASSED', unknown.text);
    authority.mend('crl');
    authority.revoke(authority.pki.issuing.certificate, Date.now() - 3_600_000);
    const found = await judged(authority.pki.freshSigner(), { hasRoot: true });
    t.is(found.subIndication, 'REVOKED_CA_NO_POE', found.text);
  },
);
