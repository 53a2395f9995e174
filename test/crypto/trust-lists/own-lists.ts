/** Trusted lists of our own: written, and signed by keys of the test. */
import { type KeyObject, randomBytes } from 'node:crypto';
import { oid, sequence, tlv } from '#crypto/asn1/write.js';
import { MemoryOutput } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { fingerprintOf } from '#crypto/x509/certificate.js';
import { type DistinguishedName, issueCertificate } from '../../pki/issuing.ts';
import { keyOf, type TestSigner, testSigner } from '../../pki/pki.ts';

export const AT = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
export const LOCATION = 'https://lists.test/eu-lotl.xml';
export const JOURNAL = 'https://journal.test/C/2026/1/oj';
const TYPES = 'http://uri.etsi.org/TrstSvc/TrustedList';
export const CA_QC = 'http://uri.etsi.org/TrstSvc/Svctype/CA/QC';
export const TSA_QTST = 'http://uri.etsi.org/TrstSvc/Svctype/TSA/QTST';
export const OCSP_QC = 'http://uri.etsi.org/TrstSvc/Svctype/Certstatus/OCSP/QC';

/** A self-signed signer of lists; its extended key usage is that of list signers, which documents may not have. */
export function listSigner(
  name: string,
  valid: readonly [from: number, to: number] = [AT - 900 * DAY, AT + 900 * DAY],
): TestSigner {
  const key = keyOf('p-256');
  const subject = { country: 'BE', organization: 'Scheme', commonName: name };
  const certificate = issueCertificate({
    subject,
    issuer: subject,
    ...key,
    issuerKey: key.privateKey,
    serial: randomBytes(8),
    notBefore: valid[0],
    notAfter: valid[1],
    use: { kind: 'signer', purposes: ['0.4.0.2231.3.0'] },
  });
  return testSigner(key.privateKey, certificate, []);
}

export function fingerprints(...signers: readonly TestSigner[]): ReadonlySet<string> {
  return new Set(signers.map(({ certificate }) => fingerprintOf(certificate)));
}

interface PointerText {
  readonly territory: string;
  readonly signers: readonly TestSigner[];
  /** @default that of a national list */
  readonly type?: string;
  readonly location?: string;
}

interface ListText {
  readonly territory?: string;
  readonly type?: 'EUgeneric' | 'EUlistofthelists';
  readonly version?: string;
  readonly sequence?: number;
  /** Milliseconds since the epoch. */
  readonly nextUpdate?: number | 'closed';
  readonly uris?: readonly string[];
  readonly pointers?: readonly PointerText[];
  readonly providers?: string;
}

/** A list without signature. */
export function listText({
  territory = 'BE',
  type = 'EUgeneric',
  version = '6',
  sequence: number = 7,
  nextUpdate = AT + 90 * DAY,
  uris = ['https://lists.test/rules'],
  pointers = [],
  providers = '',
}: ListText = {}): string {
  const time = (at: number) => `<dateTime>${new Date(at).toISOString()}</dateTime>`;
  return `<?xml version="1.0" encoding="UTF-8"?><TrustServiceStatusList xmlns="http://uri.etsi.org/02231/v2#" xmlns:x="http://uri.etsi.org/02231/v2/additionaltypes#" xmlns:q="http://uri.etsi.org/TrstSvc/SvcInfoExt/eSigDir-1999-93-EC-TrustedList/#" xmlns:a="http://uri.etsi.org/01903/v1.3.2#" Id="list" TSLTag="http://uri.etsi.org/19612/TSLTag"><SchemeInformation><TSLVersionIdentifier>${version}</TSLVersionIdentifier><TSLSequenceNumber>${number}</TSLSequenceNumber><TSLType>${TYPES}/TSLType/${type}</TSLType><SchemeOperatorName><Name xml:lang="en">Scheme</Name></SchemeOperatorName><SchemeInformationURI>${uris.map((uri) => `<URI xml:lang="en">${uri}</URI>`).join('')}</SchemeInformationURI><SchemeTerritory>${territory}</SchemeTerritory><PointersToOtherTSL>${pointers.map(pointerText).join('')}</PointersToOtherTSL><ListIssueDateTime>${new Date(AT - DAY).toISOString()}</ListIssueDateTime><NextUpdate>${nextUpdate === 'closed' ? '' : time(nextUpdate)}</NextUpdate></SchemeInformation>${providers === '' ? '' : `<TrustServiceProviderList>${providers}</TrustServiceProviderList>`}</TrustServiceStatusList>`;
}

function pointerText({ territory, signers, type = 'EUgeneric', location }: PointerText): string {
  const identities = signers.map(
    ({ certificate }) => `<ServiceDigitalIdentity>${digitalId(certificate)}</ServiceDigitalIdentity>`,
  );
  return `<OtherTSLPointer><ServiceDigitalIdentities>${identities.join('')}</ServiceDigitalIdentities><TSLLocation>${location ?? `https://lists.test/${territory}.xml`}</TSLLocation><AdditionalInformation><OtherInformation><TSLType>${TYPES}/TSLType/${type}</TSLType></OtherInformation><OtherInformation><SchemeTerritory>${territory}</SchemeTerritory></OtherInformation><OtherInformation><x:MimeType>application/vnd.etsi.tsl+xml</x:MimeType></OtherInformation></AdditionalInformation></OtherTSLPointer>`;
}

/** The list of lists, or a pivot. @param next who may sign the newer one */
export function lotlText(
  next: readonly TestSigner[],
  more: Omit<ListText, 'type' | 'territory'> = {},
): string {
  const self = { territory: 'EU', signers: next, type: 'EUlistofthelists', location: LOCATION };
  return listText({
    uris: [JOURNAL],
    ...more,
    type: 'EUlistofthelists',
    territory: 'EU',
    pointers: [self, ...(more.pointers ?? [])],
  });
}

function digitalId(certificate: Buffer): string {
  return `<DigitalId><X509Certificate>${certificate.toString('base64')}</X509Certificate></DigitalId>`;
}

export interface EntryText {
  readonly status?: string;
  /** ISO 8601. */
  readonly since?: string;
  readonly type?: string;
  /** Last segments of the URIs. */
  readonly information?: readonly string[];
  readonly qualifiers?: readonly string[];
  readonly criteria?: string;
  readonly isCritical?: boolean;
  /** Further elements of an extension. */
  readonly extension?: string;
}

/** A criterion that every certificate of a signer meets. */
const ANYONE =
  '<q:CriteriaList assert="atLeastOne"><q:KeyUsage><q:KeyUsageBit name="digitalSignature">true</q:KeyUsageBit></q:KeyUsage></q:CriteriaList>';

function entryText(certificate: Buffer, entry: EntryText): string {
  const {
    status = 'granted',
    since = '2017-01-01T00:00:00Z',
    type = CA_QC,
    information = ['ForeSignatures'],
    qualifiers = [],
    criteria = ANYONE,
    isCritical = false,
    extension: further = '',
  } = entry;
  const qualified =
    qualifiers.length === 0
      ? ''
      : `<Extension Critical="${isCritical}"><q:Qualifications><q:QualificationElement><q:Qualifiers>${qualifiers.map((one) => `<q:Qualifier uri="${TYPES}/SvcInfoExt/${one}"/>`).join('')}</q:Qualifiers>${criteria}</q:QualificationElement></q:Qualifications></Extension>`;
  const informed = information.map(
    (one) =>
      `<Extension Critical="true"><AdditionalServiceInformation><URI xml:lang="en">${TYPES}/SvcInfoExt/${one}</URI></AdditionalServiceInformation></Extension>`,
  );
  return `<ServiceTypeIdentifier>${type}</ServiceTypeIdentifier><ServiceName><Name xml:lang="en">Service</Name></ServiceName><ServiceDigitalIdentity>${digitalId(certificate)}</ServiceDigitalIdentity><ServiceStatus>${TYPES}/Svcstatus/${status}</ServiceStatus><StatusStartingTime>${since}</StatusStartingTime><ServiceInformationExtensions>${informed.join('')}${qualified}${further}</ServiceInformationExtensions>`;
}

/** A service: its current entry, then the history. */
export function serviceText(
  certificate: Buffer,
  [current = {}, ...history]: readonly EntryText[] = [],
): string {
  const past = history.map(
    (entry) => `<ServiceHistoryInstance>${entryText(certificate, entry)}</ServiceHistoryInstance>`,
  );
  return `<TSPService><ServiceInformation>${entryText(certificate, current)}</ServiceInformation><ServiceHistory>${past.join('')}</ServiceHistory></TSPService>`;
}

/** A provider with one service, and others as text. */
export function providerText(
  certificate: Buffer,
  entries: readonly EntryText[] = [],
  name = 'Provider',
  others = '',
): string {
  return `<TrustServiceProvider><TSPInformation><TSPName><Name xml:lang="en">${name}</Name></TSPName></TSPInformation><TSPServices>${serviceText(certificate, entries)}${others}</TSPServices></TrustServiceProvider>`;
}

/** Signs a list as its schemes do: enveloped, over the whole document. */
export function signList(text: string, signer: TestSigner, at = AT - DAY): Buffer {
  const output = new MemoryOutput();
  signFile({ format: 'Xades', input: Buffer.from(text), output, signer, at });
  return Buffer.from(output.bytes);
}

const STATEMENTS = {
  compliance: sequence(oid('0.4.0.1862.1.1')),
  device: sequence(oid('0.4.0.1862.1.4')),
  signature: sequence(oid('0.4.0.1862.1.6'), sequence(oid('0.4.0.1862.1.6.1'))),
  seal: sequence(oid('0.4.0.1862.1.6'), sequence(oid('0.4.0.1862.1.6.2'))),
  both: sequence(oid('0.4.0.1862.1.6'), sequence(oid('0.4.0.1862.1.6.1'), oid('0.4.0.1862.1.6.2'))),
  ofUtopia: sequence(oid('0.4.0.1862.1.7'), sequence(tlv(0x13, Buffer.from('UT')))),
} as const;
export type Statement = keyof typeof STATEMENTS;

export interface Authority {
  readonly certificate: Buffer;
  readonly key: KeyObject;
  readonly name: DistinguishedName;
  /** Certificates from its own up to the highest. */
  readonly chain: readonly Buffer[];
  /** Issues a certificate to a signer. */
  issue(
    statements: readonly Statement[],
    options?: {
      readonly notBefore?: number;
      readonly policies?: readonly string[];
      readonly crlUrl?: string | undefined;
    },
  ): TestSigner;
}

interface Below {
  readonly parent: Authority;
  /** Left out for one whose certificate is a signer's. */
  readonly isCa?: true;
}

/** An authority of a country; without `below`, self-signed. */
export function authorityOf(
  country: string,
  organization = 'Provider',
  commonName = 'Authority',
  below?: Below,
): Authority {
  const key = keyOf('p-256');
  const name = { country, ...(organization !== '' && { organization }), commonName };
  const base = { issuer: name, issuerKey: key.privateKey, notAfter: AT + 900 * DAY };
  const certificate = issueCertificate({
    ...base,
    ...key,
    ...(below && { issuer: below.parent.name, issuerKey: below.parent.key }),
    subject: name,
    serial: randomBytes(8),
    notBefore: Date.UTC(2012, 0, 1),
    use: below === undefined || below.isCa ? { kind: 'ca' } : { kind: 'signer', purposes: [] },
  });
  const chain = [certificate, ...(below?.parent.chain ?? [])];
  return {
    certificate,
    key: key.privateKey,
    name,
    chain,
    issue(statements, { notBefore = AT - 90 * DAY, policies, crlUrl } = {}) {
      const own = keyOf('p-256');
      const issued = issueCertificate({
        ...base,
        publicKey: own.publicKey,
        subject: { country, commonName: 'Ada Lovelace' },
        serial: randomBytes(8),
        notBefore,
        use: { kind: 'signer', purposes: [] },
        ...(policies && { policies }),
        crlUrl,
        furtherExtensions: [
          {
            id: '1.3.6.1.5.5.7.1.3',
            critical: false,
            value: sequence(...statements.map((one) => STATEMENTS[one])),
          },
        ],
      });
      return testSigner(own.privateKey, issued, chain);
    },
  };
}

/** A self-signed certificate for time-stamps. */
export function timestampUnit(country: string, organization: string): Buffer {
  const key = keyOf('p-256');
  const subject = { country, organization, commonName: 'Unit' };
  return issueCertificate({
    subject,
    issuer: subject,
    ...key,
    issuerKey: key.privateKey,
    serial: randomBytes(8),
    notBefore: Date.UTC(2012, 0, 1),
    notAfter: AT + 900 * DAY,
    use: { kind: 'timestamping' },
  });
}
