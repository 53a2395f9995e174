/** What is to be found out about one XML signature from bytes alone (XML Signature 1.1 §3.2, EN 319 132-1). */
import type { Certificate } from '../../certificates/certificate.ts';
import { readableCertificates } from '../../certificates/certificate.ts';
import { evidenceInTimestamp, joinEvidence, NO_EVIDENCE } from '../../cms/facts-evidence.ts';
import { levelOf } from '../../cms/facts-level.ts';
import { keyBits } from '../../cms/signature-value.ts';
import type { AlgorithmUse, Finding, SignatureFacts } from '../../validation/facts.ts';
import type { SignatureScope } from '../../validation/report.ts';
import { DS, XADES } from '../identifiers.ts';
import { isMac, type ValueMethod, valueFault, valueMethodOf } from './algorithms.ts';
import { coverageOf } from './coverage.ts';
import { evidenceIn } from './evidence.ts';
import { type ExaminedReferences, examineReferences } from './examine-references.ts';
import { readKeyInfo } from './key-info.ts';
import { DataFault, type DataRoom, shown, writeNode } from './reference-data.ts';
import { attributeOf, childrenNamed, FormFault, type SignatureNode } from './signature-node.ts';
import { readSignatureForm, type SignatureForm } from './signed-info.ts';
import { bindSigner } from './signer-certificate.ts';
import { parseDateTime } from './signing-time.ts';
import { timestampsOf } from './timestamps.ts';

/** How deep counter-signatures may go; deeper ones are not looked at. */
const MAX_COUNTER_DEPTH = 4;

/**
 * Never throws for bad bytes.
 *
 * Findings: `structure.signature`, `ids.unique`, `structure.reference`, `reference.data`, `reference.outside`, `reference.type`,
 * `reference.position`, `digest.content`, `digest.properties`, `digest.manifest`, `digest.value`, `digest.part`,
 * `structure.properties`, `structure.manifest`, `algorithm.digest`, `structure.scope`, `scope.partial`, `scope.detour`,
 * `scope.comments`, `scope.comment-in-text`, `scope.unsigned-object`, `certificate.signer`, `certificate.binding`,
 * `certificate.issuer-name`, `algorithm.signature`, `signature.value`, `attributes.signing-time`,
 * `attributes.data-format`, `attributes.xades`, `attributes.policy`, `timestamp.outdated`, `timestamp.count`,
 * `timestamp.order`.
 * @param counters the signature this one counter-signs; undefined for one that stands for itself
 */
export function signatureFacts(
  room: DataRoom,
  node: SignatureNode,
  counters?: { readonly signature: SignatureNode; readonly depth: number },
): SignatureFacts {
  const name = attributeOf(node, 'Id') ?? `signature ${room.map.signatures.indexOf(node) + 1}`;
  const fault = room.map.faults.get(node);
  try {
    if (fault !== undefined) throw new FormFault(fault);
    return formFacts(room, shown(name), readSignatureForm(node), counters);
  } catch (error) {
    if (!(error instanceof FormFault)) throw error;
    return brokenFacts(shown(name), `The signature is not of the accepted form: ${error.message}.`);
  }
}

function formFacts(
  room: DataRoom,
  name: string,
  form: SignatureForm,
  counters: { readonly signature: SignatureNode; readonly depth: number } | undefined,
): SignatureFacts {
  const signed = form.properties?.signed;
  const unsigned = form.properties?.unsigned ?? [];
  const examined = examineReferences(room, form);
  const covered =
    counters === undefined
      ? coverageOf(room, form, examined.references)
      : counterCoverage(examined, counters.signature);
  const keyInfo = readKeyInfo(form.keyInfo);
  const embedded = joinEvidence(evidenceIn(unsigned), { ...NO_EVIDENCE, crls: keyInfo.crls });
  const others = embedded.certificates.flatMap(readableCertificates);
  const certificates: readonly Certificate[] = [...keyInfo.certificates, ...others];
  const method = valueMethodOf(form.method);
  const signedInfo = canonicalSignedInfo(room, form);
  const fits = ({ publicKey }: Certificate): boolean =>
    method !== undefined &&
    Buffer.isBuffer(signedInfo) &&
    valueFault(method, publicKey, signedInfo, form.value) === undefined;
  const bound = bindSigner(signed?.signingCertificate, keyInfo, others, fits);
  const stamps =
    form.properties === undefined
      ? { timestamps: [], findings: [] }
      : timestampsOf({
          room,
          signature: form.node,
          properties: form.properties,
          certificates,
          references: examined.references.map(({ form: reference, data, role }) => ({
            form: reference,
            data,
            isProperties: role === 'properties',
          })),
        });
  const claimed = signed?.signingTime === undefined ? undefined : parseDateTime(signed.signingTime);
  const described = formatFindings(form, examined, counters !== undefined);
  const complete = bound.bound && claimed !== undefined && described.length === 0;
  const evidence = joinEvidence(embedded, ...stamps.timestamps.map(evidenceInTimestamp));
  return {
    format: 'Xades',
    level: complete ? levelOf(stamps.timestamps, embedded) : undefined,
    name,
    scope: covered.scope,
    findings: [
      { status: 'passed', type: 'structure.signature', message: 'The signature is of the accepted form.' },
      uniqueIds(room, form),
      ...examined.findings,
      ...protectionFindings(form, examined),
      ...covered.findings,
      ...bound.findings,
      ...valueFindings(form, method, signedInfo, bound.certificate),
      ...timeFindings(form, claimed),
      ...described,
      ...policyFindings(form),
      ...stamps.findings,
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
    counterSignatures: counterSignatures(room, form, unsigned, counters?.depth ?? 0),
    isTimestamp: false,
  };
}

/** Bytes of SignedInfo, or why they can't be had. */
function canonicalSignedInfo(
  room: DataRoom,
  { signedInfo, canonicalization }: SignatureForm,
): Buffer | string {
  const parts: Buffer[] = [];
  try {
    writeNode(room, signedInfo, canonicalization, { update: (bytes) => parts.push(Buffer.from(bytes)) });
    return Buffer.concat(parts);
  } catch (error) {
    if (error instanceof DataFault) return error.message;
    throw error;
  }
}

function uniqueIds({ map }: DataRoom, form: SignatureForm): Finding {
  const ids = [
    form.id,
    form.properties?.signed?.id,
    attributeOf(form.valueNode, 'Id'),
    ...form.references.map(({ id }) => id),
  ];
  const repeated = ids.find((id) => id !== undefined && map.elementsNamed(id).length > 1);
  if (repeated === undefined) {
    return {
      status: 'passed',
      type: 'ids.unique',
      message: 'Each identifier the signature relies on names one element.',
    };
  }
  return {
    status: 'failed',
    type: 'ids.unique',
    message: `The identifier "${shown(repeated)}" names several elements.`,
    subIndication: 'FORMAT_FAILURE',
  };
}

/** That what XAdES says is signed at all. */
function protectionFindings({ properties }: SignatureForm, { references }: ExaminedReferences): Finding[] {
  if (properties?.signed === undefined) {
    const message =
      'The signature has no signed properties: a plain XML signature, which says neither when nor by which certificate.';
    return [{ status: 'warning', type: 'attributes.xades', message }];
  }
  const over = references.filter(({ role }) => role === 'properties').length;
  if (over === 1) return [];
  const message =
    over === 0
      ? 'The signed properties are not signed.'
      : 'Several references are over the signed properties.';
  return [{ status: 'failed', type: 'structure.properties', message, subIndication: 'FORMAT_FAILURE' }];
}

function valueFindings(
  form: SignatureForm,
  method: ValueMethod | undefined,
  signedInfo: Buffer | string,
  certificate: Certificate | undefined,
): Finding[] {
  if (isMac(form.method)) {
    const message = 'A keyed hash is no signature: whoever can check it can make it.';
    return [{ status: 'failed', type: 'algorithm.signature', message, subIndication: 'FORMAT_FAILURE' }];
  }
  if (method === undefined) {
    const message = `The signature algorithm ${shown(form.method)} is not accepted.`;
    return [
      { status: 'failed', type: 'algorithm.signature', message, subIndication: 'CRYPTO_CONSTRAINTS_FAILURE' },
    ];
  }
  if (form.methodHasParameters) {
    const message = 'The signature algorithm has parameters, which it does not take.';
    return [{ status: 'failed', type: 'algorithm.signature', message, subIndication: 'FORMAT_FAILURE' }];
  }
  if (!Buffer.isBuffer(signedInfo)) {
    const message = `SignedInfo can't be read: ${signedInfo}.`;
    return [{ status: 'failed', type: 'signature.value', message, subIndication: 'FORMAT_FAILURE' }];
  }
  if (certificate === undefined) return [];
  const fault = valueFault(method, certificate.publicKey, signedInfo, form.value);
  if (fault === undefined) {
    const message = 'The key of the certificate made the signature.';
    return [{ status: 'passed', type: 'signature.value', message }];
  }
  const message = `The key of the certificate did not make the signature: ${fault}.`;
  return [{ status: 'failed', type: 'signature.value', message, subIndication: 'SIG_CRYPTO_FAILURE' }];
}

function valueAlgorithms(
  form: SignatureForm,
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
  { properties }: SignatureForm,
  claimed: { readonly zoned: boolean } | undefined,
): Finding[] {
  const type = 'attributes.signing-time';
  if (properties?.signed === undefined) return [];
  if (claimed?.zoned) {
    return [{ status: 'passed', type, message: 'The claimed time of signing stands where it has to.' }];
  }
  const message =
    claimed !== undefined
      ? 'The claimed time of signing has no time zone; UTC is assumed.'
      : properties.signed.signingTime === undefined
        ? 'The time of signing is not claimed, which baseline signatures have to.'
        : 'The claimed time of signing is no time.';
  return [{ status: 'warning', type, message }];
}

/** EN 319 132-1 §6.3: what kind of data each reference is over has to be said, except in counter-signatures. */
function formatFindings(
  { properties }: SignatureForm,
  { references }: ExaminedReferences,
  counters: boolean,
): Finding[] {
  const signed = properties?.signed;
  if (signed === undefined || counters) return [];
  const described = new Set(signed.formats);
  const needed = references.filter(({ role }) => role === 'data' || role === 'manifest');
  const missing = needed.filter(({ form: { id } }) => id === undefined || !described.has(`#${id}`));
  if (missing.length === 0) return [];
  const message = 'What kind of data is signed is not said, which baseline signatures have to.';
  return [{ status: 'warning', type: 'attributes.data-format', message }];
}

function policyFindings({ properties }: SignatureForm): Finding[] {
  const policy = properties?.signed?.policy;
  if (policy === undefined) return [];
  const message =
    policy.identifier === undefined
      ? 'The signature says that its policy follows from the context.'
      : 'The signature names its policy.';
  const detail = policy.identifier === undefined ? {} : { detail: shown(policy.identifier) };
  return [{ status: 'passed', type: 'attributes.policy', message, ...detail }];
}

/** EN 319 132-1 §5.2.7.2: signatures over the value of this one, inside of its unsigned properties. */
function counterSignatures(
  room: DataRoom,
  { node }: SignatureForm,
  unsigned: readonly SignatureNode[],
  depth: number,
): SignatureFacts[] {
  return unsigned
    .filter(({ namespace, local }) => namespace === XADES && local === 'CounterSignature')
    .flatMap((holder) => childrenNamed(holder, DS, 'Signature'))
    .map((inner) =>
      depth < MAX_COUNTER_DEPTH
        ? signatureFacts(room, inner, { signature: node, depth: depth + 1 })
        : brokenFacts(
            'counter-signature',
            'Counter-signatures stand deeper inside each other than is looked at.',
          ),
    );
}

function counterCoverage(
  { references }: ExaminedReferences,
  signature: SignatureNode,
): { readonly scope: SignatureScope; readonly findings: readonly Finding[] } {
  const name = attributeOf(signature, 'Id');
  const scope: SignatureScope = {
    kind: 'signature',
    description: name === undefined ? 'the signature around it' : `the signature ${shown(name)}`,
  };
  const [value] = childrenNamed(signature, DS, 'SignatureValue');
  const over = references.some(
    ({ data }) =>
      data?.kind === 'element' && data.place.start === value?.start && data.processing.output !== 'base64',
  );
  if (over) return { scope, findings: [] };
  const message = 'The counter-signature is not over the value of the signature it stands in.';
  return {
    scope,
    findings: [{ status: 'failed', type: 'structure.scope', message, subIndication: 'FORMAT_FAILURE' }],
  };
}

/** A signature about which nothing is known but why. */
function brokenFacts(name: string, message: string): SignatureFacts {
  return {
    format: 'Xades',
    level: undefined,
    name,
    scope: { kind: 'content', description: 'nothing that can be found' },
    findings: [{ status: 'failed', type: 'structure.signature', message, subIndication: 'FORMAT_FAILURE' }],
    certificate: undefined,
    certificates: [],
    evidence: NO_EVIDENCE,
    claimedTime: undefined,
    algorithms: [],
    timestamps: [],
    changes: [],
    policy: undefined,
    counterSignatures: [],
    isTimestamp: false,
  };
}
