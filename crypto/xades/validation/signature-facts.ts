/** What is to be found out about one XML signature from bytes alone (XML Signature 1.1 §3.2, EN 319 132-1). */
import { NO_EVIDENCE } from '../../authorities.ts';
import type { Certificate } from '../../certificates/certificate.ts';
import { readableCertificates } from '../../certificates/certificate.ts';
import { evidenceInTimestamp, joinEvidence } from '../../cms/facts-evidence.ts';
import { levelOf } from '../../cms/facts-level.ts';
import { type Finding, NOTHING_KNOWN, type SignatureFacts } from '../../validation/facts.ts';
import type { SignatureScope } from '../../validation/report.ts';
import { DS, XADES } from '../identifiers.ts';
import { valueFault, valueMethodOf } from './algorithms.ts';
import { coverageOf } from './coverage.ts';
import { evidenceIn } from './evidence.ts';
import { type ExaminedReferences, examineReferences } from './examine-references.ts';
import { readKeyInfo } from './key-info.ts';
import { DataFault, type DataRoom, shown, writeNode } from './reference-data.ts';
import {
  formatFindings,
  policyFindings,
  protectionFindings,
  timeFindings,
  uniqueIds,
  valueAlgorithms,
  valueFindings,
} from './signature-findings.ts';
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
      uniqueIds(room.map, form),
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
    ...NOTHING_KNOWN,
    format: 'Xades',
    name,
    scope: { kind: 'content', description: 'nothing that can be found' },
    findings: [{ status: 'failed', type: 'structure.signature', message, subIndication: 'FORMAT_FAILURE' }],
  };
}
