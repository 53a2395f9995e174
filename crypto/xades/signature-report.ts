/**
 * Report on one XML signature from its bytes alone, without trust decisions (XML Signature 1.1 §3.2, EN 319 132-1).
 */
import {
  type AlgorithmUse,
  type Finding,
  failed,
  passed,
  type SignatureScope,
  type SubIndication,
  warned,
} from '../core/validation-report.ts';
import { NO_EVIDENCE } from '../evidence/authorities.ts';
import { joinEvidence } from '../evidence/embedded-evidence.ts';
import { OLD_ARCHIVE, type PolicyUse } from '../validation/icp-brasil.ts';
import {
  evidenceInTimestamp,
  levelOf,
  type SignatureInfo,
  UNKNOWN_SIGNATURE_INFO,
} from '../validation/signature-info.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { keyBits } from '../x509/key-types.ts';
import { DS, XADES, XADES_141 } from './elements/identifiers.ts';
import {
  hashOf,
  isMac,
  isStructured,
  type ValueMethod,
  valueFault,
  valueMethodOf,
} from './validation/algorithms.ts';
import { coverageOf, prefixesText } from './validation/coverage.ts';
import { type DocumentMap, idsNamedIn } from './validation/document-map.ts';
import { type ExaminedReferences, examineReferences } from './validation/examine-references.ts';
import { keyInfoWarnings } from './validation/key-info-rules.ts';
import { propertyWarnings } from './validation/property-rules.ts';
import { DataFault, printable, type ReferenceContext, writeNode } from './validation/reference-data.ts';
import {
  attributeOf,
  childrenNamed,
  FormFault,
  interruptedIn,
  type SignatureNode,
  subIndicationOf,
  UnsupportedFault,
} from './validation/signature-node.ts';
import { readKeyInfo, readSignatureForm, type SignatureFormat, targetOf } from './validation/signed-info.ts';
import { bindSigner } from './validation/signer-certificate.ts';
import { evidenceIn, timestampsOf } from './validation/timestamps.ts';
import { unsignedMarkup } from './validation/unsigned-markup.ts';

/** Checks that the identifiers by which the signature names parts of itself are unique. */
function uniqueIds(map: DocumentMap, form: SignatureFormat): Finding {
  const own = [form.id, form.properties?.signed?.id, attributeOf(form.valueNode, 'Id')];
  const pointers = idsNamedIn([form.node], 'pointers');
  const repeated =
    own.find((id) => id !== undefined && pointers.has(id) && map.elementsNamed(id).length > 1) ??
    repeatedReference(form);
  if (repeated === undefined) {
    return passed('ids.unique', 'Each identifier the signature relies on names one element.');
  }
  return failed('ids.unique', `The identifier "${printable(repeated)}" names several elements.`);
}

/**
 * Finds an identifier of two references that the properties point to. ObjectReference and Include name a reference of
 * the same signature (EN 319 132-1 §5.2.4, §5.2.8.2), so that elements elsewhere do not count.
 */
function repeatedReference({ node, references }: SignatureFormat): string | undefined {
  const named = idsNamedIn([node], 'properties');
  const ids = references.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return ids.find((id, index) => named.has(id) && ids.indexOf(id) !== index);
}

/** Checks that the XAdES properties are signed. */
function protectionFindings({ properties }: SignatureFormat, { references }: ExaminedReferences): Finding[] {
  if (properties?.signed === undefined) {
    const message =
      'The signature has no signed properties: a plain XML signature, which says neither when nor by which certificate.';
    return [warned('attributes.xades', message)];
  }
  const over = references.filter(({ role }) => role === 'properties').length;
  if (over === 1) return [...targetFindings(properties.looseTarget), ...versionFindings(properties.older)];
  // A reference inside of the file that cannot be read may be over them.
  const isUnread = references.some(
    ({ data, form }) => data === undefined && targetOf(form.uri).kind !== 'outside',
  );
  if (over === 0 && isUnread) {
    const message = 'No reference that can be read is over the signed properties.';
    return [failed('structure.properties', message, 'GENERIC')];
  }
  const message =
    over === 0
      ? 'The signed properties are not signed.'
      : 'Several references are over the signed properties.';
  return [failed('structure.properties', message)];
}

function versionFindings(older: string | undefined): Finding[] {
  if (older === undefined) return [];
  return [warned('attributes.version', `The properties are those of XAdES ${older}, an older version.`)];
}

/** Reports a Target that does not name the signature; the signed reference still binds the properties (EN 319 132-1 §4.3.1). */
function targetFindings(looseTarget: string | undefined): Finding[] {
  if (looseTarget === undefined) return [];
  const message =
    looseTarget === ''
      ? 'The properties do not name the signature that they belong to.'
      : 'The properties name the signature that they belong to without "#".';
  return [warned('attributes.target', message)];
}

/** Findings about one signature other than its references, certificate and time-stamps. */
function valueFindings(
  form: SignatureFormat,
  method: ValueMethod | undefined,
  signedInfo: Buffer | DataFault,
  certificate: Certificate | undefined,
): Finding[] {
  if (isMac(form.method)) {
    const message = `${printable(form.method)} is a keyed hash, not a signature: whoever can check it can make it.`;
    return [failed('algorithm.signature', message, 'CRYPTO_CONSTRAINTS_FAILURE')];
  }
  if (method === undefined) {
    const message = `The signature algorithm ${printable(form.method)} is not accepted.`;
    return [failed('algorithm.signature', message, 'CRYPTO_CONSTRAINTS_FAILURE')];
  }
  if (form.methodHasParameters) {
    return [failed('algorithm.signature', 'The signature algorithm has parameters, which it does not take.')];
  }
  if (!Buffer.isBuffer(signedInfo)) {
    const message = `SignedInfo can't be read: ${signedInfo.message}.`;
    return [failed('signature.value', message, signedInfo.subIndication)];
  }
  if (certificate === undefined) return [];
  const fault = valueFault(method, certificate.publicKey, signedInfo, form.value);
  if (fault === undefined) {
    const made = passed('signature.value', 'The key of the certificate made the signature.');
    if (!isStructured(method, certificate.publicKey, signedInfo, form.value)) return [made];
    return [
      made,
      warned('signature.encoding', 'The value is written in another form than XML signatures have.'),
    ];
  }
  const message = `The key of the certificate did not make the signature: ${fault}.`;
  return [failed('signature.value', message, 'SIG_CRYPTO_FAILURE')];
}

function valueAlgorithms(
  form: SignatureFormat,
  method: ValueMethod | undefined,
  certificate: Certificate | undefined,
): AlgorithmUse[] {
  const bits = certificate === undefined ? undefined : keyBits(certificate.publicKey);
  const value = {
    name: method?.scheme ?? form.method,
    where: 'signature value',
    ...(bits === undefined ? {} : { bits }),
  };
  if (method === undefined || method.scheme === 'ed25519') return [value];
  return [value, { name: method.hash, where: 'digest of what is signed' }];
}

function timeFindings(
  { properties }: SignatureFormat,
  claimed: { readonly zoned: boolean } | undefined,
): Finding[] {
  const type = 'attributes.signing-time';
  if (properties?.signed === undefined) return [];
  if (claimed?.zoned) {
    return [passed(type, 'The claimed time of signing stands where it has to.')];
  }
  const message =
    claimed !== undefined
      ? 'The claimed time of signing has no time zone; UTC is assumed.'
      : properties.signed.signingTime === undefined
        ? 'The time of signing is not claimed, which baseline signatures have to.'
        : 'The claimed time of signing is no time.';
  return [warned(type, message)];
}

/** Checks that the data type of each reference is stated, except in counter-signatures (EN 319 132-1 §6.3). */
function formatFindings(
  { properties }: SignatureFormat,
  { references }: ExaminedReferences,
  counters: boolean,
): Finding[] {
  const signed = properties?.signed;
  if (signed === undefined || counters) return [];
  const described = new Set(signed.formats.map(({ reference }) => reference));
  const needed = references.filter(({ role }) => role === 'data' || role === 'manifest');
  const missing = needed.filter(({ form: { id } }) => id === undefined || !described.has(`#${id}`));
  if (missing.length === 0) return [];
  const message = 'What kind of data is signed is not said, which baseline signatures have to.';
  return [warned('attributes.data-format', message)];
}

function policyFindings({ properties }: SignatureFormat): Finding[] {
  const policy = properties?.signed?.policy;
  if (policy === undefined) return [];
  const message =
    policy.identifier === undefined
      ? 'The signature says that its policy follows from the context.'
      : 'The signature names its policy.';
  const detail = policy.identifier === undefined ? undefined : printable(policy.identifier);
  return [passed('attributes.policy', message, detail)];
}

function policyUse(
  { properties }: SignatureFormat,
  method: ValueMethod | undefined,
  inside: readonly Certificate[],
): PolicyUse {
  const { policy, signingCertificate } = properties?.signed ?? {};
  const named = policy?.digest;
  return {
    digest: named && { hash: hashOf(named.digestMethod), value: named.digest },
    method: `${method?.scheme} ${method?.hash}`,
    naming: signingCertificate?.version,
    inside,
    unsigned: new Set(properties?.unsigned.flatMap(namesOf)),
  };
}

function namesOf({ namespace, local }: SignatureNode): string[] {
  const isOld = namespace === XADES && local === 'ArchiveTimeStamp';
  return namespace === XADES || namespace === XADES_141 ? [local, ...(isOld ? [OLD_ARCHIVE] : [])] : [];
}

/** Nesting limit of counter-signatures; deeper ones are not examined. */
const MAX_COUNTER_DEPTH = 4;

/**
 * Examines one signature. Never throws for invalid bytes.
 *
 * Findings: `structure.signature`, `structure.comment`, `ids.unique`, `structure.reference`, `reference.data`, `reference.outside`, `reference.type`,
 * `reference.position`, `reference.transforms`, `digest.content`, `digest.properties`, `digest.manifest`, `digest.value`, `digest.part`,
 * `structure.properties`, `structure.manifest`, `algorithm.digest`, `structure.scope`, `scope.partial`, `scope.detour`,
 * `scope.comments`, `scope.prefix`, `scope.comment-in-text`, `scope.cdata-in-text`, `scope.signature-in-text`, `scope.left-out`, `scope.left-out-in-text`, `scope.unsigned-object`,
 * `scope.counter-signature`, `scope.foreign-element`, `scope.stylesheet`, `attributes.object-type`, `certificate.signer`, `certificate.binding`,
 * `certificate.issuer-name`, `certificate.key-info`, `attributes.target`, `attributes.version`, `algorithm.signature`, `signature.value`, `signature.encoding`, `attributes.signing-time`,
 * `attributes.data-format`, `attributes.xades`, `attributes.policy`, `attributes.unknown`, `timestamp.outdated`, `timestamp.count`,
 * `timestamp.order`.
 * @param counters the signature this one counter-signs; undefined for any other signature
 */
export function signatureReport(
  context: ReferenceContext,
  node: SignatureNode,
  counters?: { readonly signature: SignatureNode; readonly depth: number },
): SignatureInfo {
  const name = attributeOf(node, 'Id') ?? `signature ${context.map.signatures.indexOf(node) + 1}`;
  const fault = context.map.faults.get(node);
  try {
    if (fault !== undefined) throw new UnsupportedFault(fault);
    return formReport(context, printable(name), readSignatureForm(node), counters);
  } catch (error) {
    if (!(error instanceof FormFault)) throw error;
    const message =
      error instanceof UnsupportedFault
        ? `The signature has something that is not followed: ${error.message}.`
        : `The signature is not of the accepted form: ${error.message}.`;
    return brokenReport(printable(name), message, subIndicationOf(error));
  }
}

function stampsOf(
  context: ReferenceContext,
  { node, properties }: SignatureFormat,
  certificates: readonly Certificate[],
  references: ReturnType<typeof examineReferences>['references'],
): ReturnType<typeof timestampsOf> {
  if (properties === undefined) return { timestamps: [], findings: [] };
  return timestampsOf({
    context,
    signature: node,
    properties,
    certificates,
    references: references.map(({ form, data, role }) => ({
      form,
      data,
      isProperties: role === 'properties',
    })),
  });
}

function formReport(
  context: ReferenceContext,
  name: string,
  form: SignatureFormat,
  counters: { readonly signature: SignatureNode; readonly depth: number } | undefined,
): SignatureInfo {
  const signed = form.properties?.signed;
  const unsigned = form.properties?.unsigned ?? [];
  const examined = examineReferences(context, form);
  const covered =
    counters === undefined
      ? coverageOf(context, form, examined.references)
      : counterCoverage(examined, counters.signature);
  const keyInfo = readKeyInfo(form.keyInfo);
  const embedded = joinEvidence(evidenceIn(unsigned), { ...NO_EVIDENCE, crls: keyInfo.crls });
  const others = embedded.certificates.flatMap(readableCertificates);
  const { given = [] } = context;
  const certificates: readonly Certificate[] = [...keyInfo.certificates, ...others, ...given];
  const method = valueMethodOf(form.method);
  const canonical = canonicalSignedInfo(context, form);
  const signedInfo = canonical instanceof DataFault ? canonical : canonical.bytes;
  const fits = ({ publicKey }: Certificate): boolean =>
    method !== undefined &&
    Buffer.isBuffer(signedInfo) &&
    valueFault(method, publicKey, signedInfo, form.value) === undefined;
  const bound = bindSigner(signed?.signingCertificate, keyInfo, { others, given }, fits);
  const signers = bound.certificate === undefined ? [] : [bound.certificate];
  const stamps = stampsOf(context, form, certificates, examined.references);
  const claimed = signed?.signingTime === undefined ? undefined : parseDateTime(signed.signingTime);
  const described = formatFindings(form, examined, counters !== undefined);
  const isCurrent = form.properties?.older === undefined;
  const complete = isCurrent && bound.bound && claimed !== undefined && described.length === 0;
  const evidence = joinEvidence(embedded, ...stamps.timestamps.map(evidenceInTimestamp));
  return {
    format: 'Xades',
    level: complete ? levelOf(stamps.timestamps, embedded) : undefined,
    name,
    scope: covered.scope,
    findings: [
      passed('structure.signature', 'The signature is of the accepted form.'),
      ...commentFindings(form.node),
      uniqueIds(context.map, form),
      ...examined.findings,
      ...protectionFindings(form, examined),
      ...covered.findings,
      ...(canonical instanceof DataFault ? [] : expressionFindings(canonical.loose)),
      ...bound.findings,
      ...valueFindings(form, method, signedInfo, bound.certificate),
      ...timeFindings(form, claimed),
      ...described,
      ...(counters === undefined ? unsignedMarkup(context, form, examined) : []),
      ...policyFindings(form),
      ...propertyWarnings(form.properties?.node),
      ...keyInfoWarnings(form.keyInfo, [...keyInfo.certificates, ...signers]),
      ...stamps.findings,
      ...evidenceRecords(unsigned),
    ],
    certificate: bound.certificate,
    certificates,
    evidence,
    claimedTime: claimed?.at,
    algorithms: [
      ...examined.algorithms,
      ...valueAlgorithms(form, method, bound.certificate),
      ...bound.algorithms,
    ],
    timestamps: stamps.timestamps,
    changes: [],
    policy: signed?.policy?.identifier,
    policyUse: policyUse(form, method, keyInfo.certificates),
    ...(signed !== undefined && { claimedRoles: signed.claimedRoles }),
    counterSignatures: counterSignatures(context, form, unsigned, counters?.depth ?? 0),
    isTimestamp: false,
    value: form.value,
  };
}

/** Reports SealingEvidenceRecords (EN 319 132-2 §6.2) of any namespace version. */
function evidenceRecords(unsigned: readonly SignatureNode[]): Finding[] {
  if (!unsigned.some(({ local }) => local === 'SealingEvidenceRecords')) return [];
  return [warned('evidence-record', 'The signature has evidence records, which are not evaluated.')];
}

/** Reports values of the signature that are cut by comments, which anyone can add. */
function commentFindings(signature: SignatureNode): Finding[] {
  const cut = interruptedIn(signature).map(({ local }) => local);
  if (cut.length === 0) return [];
  const message =
    'Comments or processing instructions cut values of the signature, of which some programs read the first piece only.';
  return [warned('structure.comment', message, [...new Set(cut)].slice(0, 10).join(', '))];
}

/** Reports prefixes in XPath expressions of SignedInfo that anyone can bind to another namespace. */
function expressionFindings(loose: ReadonlySet<string>): Finding[] {
  if (loose.size === 0) return [];
  const message =
    'An expression that selects what is signed has prefixes whose namespaces the key did not sign; anyone can make it select something else.';
  return [warned('scope.prefix', message, prefixesText(loose))];
}

/** Canonicalizes SignedInfo, or returns the reason why that is impossible. */
function canonicalSignedInfo(
  context: ReferenceContext,
  { signedInfo, canonicalization }: SignatureFormat,
): { readonly bytes: Buffer; readonly loose: ReadonlySet<string> } | DataFault {
  const parts: Buffer[] = [];
  try {
    const sink = { update: (bytes: Buffer) => void parts.push(Buffer.from(bytes)) };
    const loose = writeNode(context, signedInfo, canonicalization, sink);
    return { bytes: Buffer.concat(parts), loose };
  } catch (error) {
    if (error instanceof DataFault) return error;
    throw error;
  }
}

/** Examines signatures over this signature's value in its unsigned properties (EN 319 132-1 §5.2.7.2). */
function counterSignatures(
  context: ReferenceContext,
  { node }: SignatureFormat,
  unsigned: readonly SignatureNode[],
  depth: number,
): SignatureInfo[] {
  const holders = unsigned.filter(
    ({ namespace, local }) => namespace === XADES && local === 'CounterSignature',
  );
  return holders.flatMap((holder) => {
    const held = childrenNamed(holder, DS, 'Signature');
    const reports = held.map((inner) =>
      depth < MAX_COUNTER_DEPTH
        ? signatureReport({ ...context, content: context.countersigned }, inner, {
            signature: node,
            depth: depth + 1,
          })
        : unreadCounter('Counter-signatures stand deeper inside each other than is looked at.'),
    );
    const isWhole = held.length === 1 && holder.children.length === 1;
    return isWhole
      ? reports
      : [...reports, unreadCounter('A counter-signature holds not exactly one signature.')];
  });
}

function unreadCounter(message: string): SignatureInfo {
  return brokenReport('counter-signature', message, 'GENERIC');
}

function counterCoverage(
  { references }: ExaminedReferences,
  signature: SignatureNode,
): { readonly scope: SignatureScope; readonly findings: readonly Finding[] } {
  const name = attributeOf(signature, 'Id');
  const scope: SignatureScope = {
    kind: 'signature',
    description: name === undefined ? 'the signature around it' : `the signature ${printable(name)}`,
  };
  const [value] = childrenNamed(signature, DS, 'SignatureValue');
  const over = references.some(
    ({ data }) =>
      data?.kind === 'element' &&
      data.place.start === value?.start &&
      data.processing.output !== 'base64' &&
      data.processing.filter === undefined,
  );
  const others = references.filter(({ role }) => role === 'data' || role === 'manifest').length;
  if (over) return { scope, findings: others === 0 ? [] : [furtherReferences(others)] };
  const message = 'The counter-signature is not over the value of the signature it stands in.';
  return {
    scope,
    findings: [failed('structure.scope', message)],
  };
}

/** Reports references of a counter-signature to content, which it does not make signed (EN 319 132-1 §5.2.7). */
function furtherReferences(count: number): Finding {
  const message = 'The counter-signature names content too, which does not count as signed by it.';
  return warned('scope.counter-signature', message, `references: ${count}`);
}

/** Report on a signature that can't be examined, with the reason. */
function brokenReport(name: string, message: string, subIndication: SubIndication): SignatureInfo {
  return {
    ...UNKNOWN_SIGNATURE_INFO,
    format: 'Xades',
    name,
    scope: { kind: 'content', description: 'nothing that can be found' },
    findings: [failed('structure.signature', message, subIndication)],
  };
}

/** SigningTime is an xs:dateTime (EN 319 132-1 §5.2.1). */
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

interface ClaimedTime {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** False: the text has no time zone, and UTC is assumed. */
  readonly zoned: boolean;
}

/** Parses an xs:dateTime; undefined for anything that is not a time between the years 0 and 9999. */
function parseDateTime(text: string): ClaimedTime | undefined {
  const found = DATE_TIME.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone] = found;
  const at = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}${zone ?? 'Z'}`,
  );
  return Number.isNaN(at) ? undefined : { at, zoned: zone !== undefined };
}
