/**
 * Seed value dictionary: constraints of the form's author on the signature in a field (ISO 32000-2, 12.7.5.5,
 * tables 237 to 239). Required entries and MDP must be met or signing is refused; the others are
 * recommendations to the signer.
 */

import { CryptoError, type DigestName, type PadesFormat, type SignerIdentity } from '../../core/types.ts';
import {
  asInteger,
  asName,
  asString,
  asText,
  type ByteSlice,
  items,
  type PdfDict,
  type PdfDocument,
  sourceText,
} from '../../pdf/index.ts';

export const FILTER = 'Adobe.PPKLite';
export const SUB_FILTER = 'ETSI.CAdES.detached';

/** Properties of the new signature. */
interface SeedValueInput {
  readonly signer: SignerIdentity;
  readonly digest: DigestName;
  readonly form: PadesFormat;
  /** True when it gets a time-stamp. */
  readonly timestamped: boolean;
}

/** Bits of /Ff (table 237). */
const REQUIRED = {
  Filter: 1,
  SubFilter: 2,
  V: 4,
  Reasons: 8,
  LegalAttestation: 16,
  AddRevInfo: 32,
  DigestMethod: 64,
  LockDocument: 128,
  AppearanceFilter: 256,
} as const;

/** Newest version of the dictionary with known entries only. */
const KNOWN_VERSION = 3;

/** @throws {CryptoError} `request.invalid` naming the entry that is not met */
export function assertSeedValue(pdf: PdfDocument, field: PdfDict, answers: SeedValueInput): void {
  const seed = pdf.dict(field.get('SV'));
  if (seed === undefined) return;
  const value = (key: string): ByteSlice => pdf.resolve(seed.get(key));
  const flags = asInteger(value('Ff')) ?? 0;
  const isRequired = (key: keyof typeof REQUIRED): boolean =>
    (flags & REQUIRED[key]) !== 0 && seed.get(key) !== undefined;
  const list = (key: string): readonly ByteSlice[] =>
    Array.from(items(value(key)), (item) => pdf.resolve(item));

  if (isRequired('Filter') && asName(value('Filter')) !== FILTER) {
    throw seedValueViolated('Filter', `the signature handler ${asName(value('Filter'))}`);
  }
  if (isRequired('SubFilter') && !list('SubFilter').some((item) => asName(item) === SUB_FILTER)) {
    throw seedValueViolated('SubFilter', `another encoding than ${SUB_FILTER}`);
  }
  if (isRequired('V') && !((asInteger(value('V')) ?? Number.NaN) <= KNOWN_VERSION)) {
    throw seedValueViolated('V', 'a newer reader of it');
  }
  if (isRequired('DigestMethod')) {
    const names = list('DigestMethod').map((item) => digestName(asName(item) ?? asText(item)));
    if (!names.includes(answers.digest))
      throw seedValueViolated('DigestMethod', `another digest than ${answers.digest}`);
  }
  // A required but absent list of reasons is not an empty one: a reason is forbidden then too.
  if ((flags & REQUIRED.Reasons) !== 0) assertReason(list('Reasons').map(asText), answers.form.reason);
  for (const key of ['LegalAttestation', 'AppearanceFilter'] as const) {
    if (isRequired(key)) throw seedValueViolated(key, 'something only a person at the form can give');
  }
  if (isRequired('AddRevInfo') && sourceText(value('AddRevInfo')) === 'true') {
    throw seedValueViolated(
      'AddRevInfo',
      `revocation data as a signed attribute, which ${SUB_FILTER} excludes`,
    );
  }
  if (isRequired('LockDocument') && asName(value('LockDocument')) === 'true') {
    const lock = asInteger(pdf.resolve(pdf.dict(field.get('Lock'))?.get('P')));
    if (lock !== 1)
      throw seedValueViolated('LockDocument', 'a lock of the document that the field does not have');
  }
  assertCertification(pdf.dict(seed.get('MDP')), pdf, answers.form);
  const timestamp = pdf.dict(seed.get('TimeStamp'));
  if ((asInteger(pdf.resolve(timestamp?.get('Ff'))) ?? 0) === 1 && !answers.timestamped) {
    throw seedValueViolated('TimeStamp', 'a time-stamp');
  }
  const certificate = pdf.dict(seed.get('Cert'));
  if (certificate !== undefined) assertCertificate(pdf, certificate, answers.signer);
}

function assertReason(reasons: readonly (string | undefined)[], reason: string | undefined): void {
  const none = reasons.length === 0 || (reasons.length === 1 && reasons[0] === '.');
  if (none && reason !== undefined) throw seedValueViolated('Reasons', 'no reason');
  if (!none && (reason === undefined || !reasons.includes(reason))) {
    throw seedValueViolated(
      'Reasons',
      `one of the reasons ${reasons.map((item) => JSON.stringify(item)).join(', ')}`,
    );
  }
}

/** Table 237, /MDP: 0 for an approval signature, 1 to 3 for a certification with that permission. */
function assertCertification(mdp: PdfDict | undefined, pdf: PdfDocument, form: PadesFormat): void {
  const permission = mdp && asInteger(pdf.resolve(mdp.get('P')));
  if (permission === undefined || permission === (form.certification ?? 0)) return;
  throw seedValueViolated(
    'MDP',
    permission === 0 ? 'no certification' : `a certification with permission ${permission}`,
  );
}

/** Bits of /Ff of the certificate dictionary (table 238); other bits can't be checked here. */
const CERTIFICATE_REQUIRED = {
  Subject: 1,
  Issuer: 2,
  OID: 4,
  SubjectDN: 8,
  KeyUsage: 32,
  URL: 64,
  SignaturePolicyOID: 128,
} as const;

function assertCertificate(pdf: PdfDocument, seed: PdfDict, { certificate, chain }: SignerIdentity): void {
  const flags = asInteger(pdf.resolve(seed.get('Ff'))) ?? 0;
  for (const key of Object.keys(CERTIFICATE_REQUIRED) as (keyof typeof CERTIFICATE_REQUIRED)[]) {
    if ((flags & CERTIFICATE_REQUIRED[key]) === 0 || seed.get(key) === undefined) continue;
    const allowed = Array.from(items(pdf.resolve(seed.get(key))), (item) => asString(pdf.resolve(item)));
    const among = (der: Buffer): boolean => allowed.some((bytes) => bytes?.equals(der) === true);
    if (key === 'Subject' ? among(certificate) : key === 'Issuer' && [certificate, ...chain].some(among))
      continue;
    // A URL only tells how to get a certificate.
    if (key !== 'URL')
      throw seedValueViolated(`Cert /${key}`, 'another certificate, or one that was checked for it');
  }
}

/** Normalises `SHA-256`, `sha256` and `SHA256`, which programs write. */
function digestName(name: string | undefined): string | undefined {
  return name?.toLowerCase().replace('-', '');
}

function seedValueViolated(key: string, wants: string): CryptoError {
  return new CryptoError(
    'request.invalid',
    `The signature field asks for ${wants} (/SV /${key}), which this signature does not give.`,
  );
}
