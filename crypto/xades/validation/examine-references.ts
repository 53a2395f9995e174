/** Each reference of a signature: what it is over, and whether that has the digest that was signed. */
import type { AlgorithmUse, Finding } from '../../validation/facts.ts';
import type { SubIndication } from '../../validation/report.ts';
import { DS } from '../identifiers.ts';
import { hashOf } from './algorithms.ts';
import { DataFault, type DataRoom, digestData, type FoundData, findData, shown } from './reference-data.ts';
import { type ReferenceForm, readReference, targetOf } from './references.ts';
import { childrenNamed, FormFault, holds, type SignatureNode } from './signature-node.ts';
import { claimsProperties, type SignatureForm } from './signed-info.ts';

export interface ExaminedReference {
  readonly form: ReferenceForm;
  /** Undefined when it can't be had. */
  readonly data: FoundData | undefined;
  readonly role: ReferenceRole;
}

/**
 * What a reference is there for. `properties`: the SignedProperties of this signature; `value`: the SignatureValue of
 * another; `part`: something of this signature that is no content, such as KeyInfo; `manifest`: a list of further
 * references; `data`: everything else.
 */
export type ReferenceRole = 'properties' | 'value' | 'part' | 'manifest' | 'data';

export interface ExaminedReferences {
  readonly references: readonly ExaminedReference[];
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
}

/** References in manifests, all of a file together. */
const MAX_LISTED = 1000;

export function examineReferences(room: DataRoom, form: SignatureForm): ExaminedReferences {
  const findings: Finding[] = [];
  const hashes = new Set<string>();
  const references = form.references.map((reference) => {
    const examined = examine(room, form, reference, findings, hashes);
    if (examined.role === 'manifest') examineManifest(room, form, examined, findings, hashes);
    return examined;
  });
  return {
    references,
    findings,
    algorithms: [...hashes].map((name) => ({ name, where: 'digest of a reference' })),
  };
}

function examine(
  room: DataRoom,
  form: SignatureForm,
  reference: ReferenceForm,
  findings: Finding[],
  hashes: Set<string>,
): ExaminedReference {
  const detail = reference.uri === undefined ? 'no URI' : `URI="${shown(reference.uri)}"`;
  try {
    const data = findData(room, reference);
    const role = roleOf(room, form, data);
    const misused = misuse(form, reference, data, role);
    if (misused !== undefined) findings.push({ ...misused, detail });
    findings.push({ ...compare(room, form, reference, data, role, hashes), detail });
    return { form: reference, data, role };
  } catch (error) {
    if (!(error instanceof DataFault || error instanceof FormFault)) throw error;
    const subIndication = error instanceof DataFault ? error.subIndication : 'FORMAT_FAILURE';
    const message = `What a reference is over can't be read: ${error.message}.`;
    findings.push({
      status: 'failed',
      type: lostType(reference, subIndication),
      message,
      detail,
      subIndication,
    });
    return { form: reference, data: undefined, role: 'data' };
  }
}

/** `reference.outside`: a file that is not at hand, which is nobody's fault. */
function lostType({ uri }: ReferenceForm, subIndication: SubIndication): string {
  if (subIndication !== 'SIGNED_DATA_NOT_FOUND') return 'structure.reference';
  return targetOf(uri).kind === 'outside' ? 'reference.outside' : 'reference.data';
}

function compare(
  room: DataRoom,
  form: SignatureForm,
  reference: ReferenceForm,
  data: FoundData,
  role: ReferenceRole,
  hashes: Set<string>,
): Finding {
  const type = `digest.${role === 'data' ? 'content' : role}`;
  const hash = hashOf(reference.digestMethod);
  hashes.add(hash ?? reference.digestMethod);
  if (hash === undefined) {
    return {
      status: 'failed',
      type: 'algorithm.digest',
      message: `The hash function ${shown(reference.digestMethod)} is not known.`,
      subIndication: 'CRYPTO_CONSTRAINTS_FAILURE',
    };
  }
  const what = WHAT[role];
  return digestData(room, data, form.node, hash).equals(reference.digest)
    ? { status: 'passed', type, message: `${what} has the signed digest.` }
    : {
        status: 'failed',
        type,
        message: `${what} has another digest than was signed.`,
        subIndication: 'HASH_FAILURE',
      };
}

const WHAT: { readonly [role in ReferenceRole]: string } = {
  properties: 'SignedProperties',
  value: 'The counter-signed value',
  part: 'A part of the signature',
  manifest: 'The manifest',
  data: 'The content',
};

function roleOf(room: DataRoom, form: SignatureForm, data: FoundData): ReferenceRole {
  if (data.kind !== 'element') return 'data';
  const { place } = data;
  if (place.start === form.properties?.signed?.node.start) return 'properties';
  if (manifestAt(form, place.start) !== undefined) return 'manifest';
  const { node, objects } = form;
  const values = room.map.signatures.flatMap((one) =>
    one === node ? [] : childrenNamed(one, DS, 'SignatureValue'),
  );
  if (values.some(({ start }) => start === place.start)) return 'value';
  const own = place.start > node.start && place.end <= node.end;
  if (!own) return 'data';
  const object = objects.find((one) => holds(one, place));
  const isContent =
    object !== undefined &&
    !object.children.some((child) => child.local !== 'Signature' && holds(child, place));
  return isContent ? 'data' : 'part';
}

/** The manifest that begins there, also with the object around it. */
function manifestAt({ objects }: SignatureForm, start: number): SignatureNode | undefined {
  for (const object of objects) {
    for (const manifest of childrenNamed(object, DS, 'Manifest')) {
      if (manifest.start === start || object.start === start) return manifest;
    }
  }
  return undefined;
}

/** A reference whose type, transforms and place contradict each other. */
function misuse(
  { node }: SignatureForm,
  reference: ReferenceForm,
  data: FoundData,
  role: ReferenceRole,
): Omit<Finding, 'detail'> | undefined {
  if (claimsProperties(reference) && role !== 'properties') {
    const message =
      'A reference says it is over the signed properties of this signature, but is over something else.';
    return { status: 'failed', type: 'structure.properties', message, subIndication: 'FORMAT_FAILURE' };
  }
  if (role === 'properties') {
    if (
      data.processing.output === 'base64' ||
      data.processing.enveloped ||
      data.processing.withoutSignatures
    ) {
      const message = 'The signed properties are transformed, so that not all of what they say is signed.';
      return { status: 'failed', type: 'structure.properties', message, subIndication: 'FORMAT_FAILURE' };
    }
    if (!claimsProperties(reference)) {
      const message = 'The reference to the signed properties does not say that it is one.';
      return { status: 'warning', type: 'reference.type', message };
    }
  }
  if (data.kind === 'element' && data.processing.enveloped && !holds(data.place, node)) {
    const message =
      'A reference was made for an element around the signature, but the signature does not stand in it.';
    return {
      status: 'failed',
      type: 'reference.position',
      message,
      subIndication: 'SIG_CONSTRAINTS_FAILURE',
    };
  }
  return undefined;
}

/** ds:Manifest (XML Signature 1.1 §5.1): references that the signature vouches for, each to be checked like its own. */
function examineManifest(
  room: DataRoom,
  form: SignatureForm,
  { data }: ExaminedReference,
  findings: Finding[],
  hashes: Set<string>,
): void {
  const manifest = data?.kind === 'element' ? manifestAt(form, data.place.start) : undefined;
  const listed = childrenNamed(manifest, DS, 'Reference');
  if (manifest === undefined || listed.length !== manifest.children.length || listed.length > MAX_LISTED) {
    const message = 'The manifest holds something else than references, or too many.';
    findings.push({ status: 'failed', type: 'structure.manifest', message, subIndication: 'FORMAT_FAILURE' });
    return;
  }
  for (const node of listed) {
    try {
      examine(room, form, readReference(node), findings, hashes);
    } catch (error) {
      if (!(error instanceof FormFault)) throw error;
      const message = `The manifest can't be read: ${error.message}.`;
      findings.push({
        status: 'failed',
        type: 'structure.manifest',
        message,
        subIndication: 'FORMAT_FAILURE',
      });
    }
  }
}
