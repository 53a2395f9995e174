/** Examination of each reference of a signature: its data and its digest. */
import {
  type AlgorithmUse,
  type Finding,
  failed,
  passed,
  type SubIndication,
  warned,
} from '../../core/validation-report.ts';
import { DS, MANIFEST_TYPE, OBJECT_TYPE } from '../elements/identifiers.ts';
import { hashOf } from './algorithms.ts';
import type { ElementPlace } from './document-map.ts';
import {
  DataFault,
  digestData,
  type FoundData,
  findData,
  printable,
  type ReferenceContext,
  TransformsFault,
} from './reference-data.ts';
import {
  childrenNamed,
  FormFault,
  holds,
  is,
  type SignatureNode,
  subIndicationOf,
} from './signature-node.ts';
import {
  claimsProperties,
  type ReferenceFormat,
  readReference,
  type SignatureFormat,
  targetOf,
} from './signed-info.ts';
import { changesNodes, stagesOf } from './transforms.ts';

export interface ExaminedReference {
  readonly form: ReferenceFormat;
  /** Data of the reference; undefined when it can't be obtained. */
  readonly data: FoundData | undefined;
  readonly role: ReferenceRole;
  /** References that a manifest lists, as far as they are readable. */
  readonly listed?: readonly ExaminedReference[];
}

/**
 * Role of a reference. `properties`: the SignedProperties of this signature; `value`: the SignatureValue of another
 * signature; `part`: an element of this signature that is not content, such as KeyInfo; `manifest`: a list of further
 * references; `data`: all others.
 */
type ReferenceRole = 'properties' | 'value' | 'part' | 'manifest' | 'data';

export interface ExaminedReferences {
  readonly references: readonly ExaminedReference[];
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
}

/** Limit of references in all manifests of a file. */
const MAX_LISTED = 1000;

export function examineReferences(context: ReferenceContext, form: SignatureFormat): ExaminedReferences {
  const findings: Finding[] = [];
  const hashes = new Set<string>();
  const references = form.references.map((reference) => {
    const examined = examine(context, form, { reference, findings, hashes });
    if (examined.role !== 'manifest') return examined;
    return {
      ...examined,
      listed: examineManifests(context, form, { examined, findings, hashes }),
    };
  });
  return {
    references,
    findings,
    algorithms: [...hashes].map((name) => ({ name, where: 'digest of a reference' })),
  };
}

function examine(
  context: ReferenceContext,
  form: SignatureFormat,
  {
    reference,
    findings,
    hashes,
  }: { readonly reference: ReferenceFormat; readonly findings: Finding[]; readonly hashes: Set<string> },
): ExaminedReference {
  const detail = reference.uri === undefined ? 'no URI' : `URI="${printable(reference.uri)}"`;
  try {
    const data = findData(context, reference);
    const role = roleOf(context, form, data);
    const misused = misuse(form, reference, data, role);
    if (misused !== undefined) findings.push({ ...misused, detail });
    findings.push({ ...compare(context, form, { reference, data, role, hashes }), detail });
    return { form: reference, data, role };
  } catch (error) {
    if (!(error instanceof DataFault || error instanceof FormFault)) throw error;
    const subIndication = error instanceof DataFault ? error.subIndication : subIndicationOf(error);
    const message = `What a reference is over can't be read: ${error.message}.`;
    findings.push(
      failed(
        error instanceof TransformsFault ? 'reference.transforms' : lostType(reference, subIndication),
        message,
        subIndication,
        detail,
      ),
    );
    return { form: reference, data: undefined, role: 'data' };
  }
}

/** Returns `reference.outside` for a file that is not available: the signature is not at fault. */
function lostType({ uri }: ReferenceFormat, subIndication: SubIndication): string {
  if (subIndication !== 'SIGNED_DATA_NOT_FOUND') return 'structure.reference';
  return targetOf(uri).kind === 'outside' ? 'reference.outside' : 'reference.data';
}

function compare(
  context: ReferenceContext,
  form: SignatureFormat,
  {
    reference,
    data,
    role,
    hashes,
  }: {
    readonly reference: ReferenceFormat;
    readonly data: FoundData;
    readonly role: ReferenceRole;
    readonly hashes: Set<string>;
  },
): Finding {
  const type = `digest.${role === 'data' ? 'content' : role}`;
  const hash = hashOf(reference.digestMethod);
  hashes.add(hash ?? reference.digestMethod);
  if (hash === undefined) {
    return failed(
      'algorithm.digest',
      `The hash function ${printable(reference.digestMethod)} is not known.`,
      'CRYPTO_CONSTRAINTS_FAILURE',
    );
  }
  const what = WHAT[role];
  return digestData(context, data, form.node, hash).equals(reference.digest)
    ? passed(type, `${what} has the signed digest.`)
    : failed(type, `${what} has another digest than was signed.`, 'HASH_FAILURE');
}

const WHAT: { readonly [role in ReferenceRole]: string } = {
  properties: 'SignedProperties',
  value: 'The counter-signed value',
  part: 'A part of the signature',
  manifest: 'The manifest',
  data: 'The content',
};

function roleOf(context: ReferenceContext, form: SignatureFormat, data: FoundData): ReferenceRole {
  if (data.kind !== 'element') return 'data';
  const { place } = data;
  if (place.start === form.properties?.signed?.node.start) return 'properties';
  if (manifestsAt(form, place.start).length > 0) return 'manifest';
  const { node, objects } = form;
  const values = context.map.signatures.flatMap((one) =>
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

/** Returns the manifest at the offset, or the manifests directly in the object at the offset. */
function manifestsAt({ objects }: SignatureFormat, start: number): SignatureNode[] {
  return objects.flatMap((object) =>
    childrenNamed(object, DS, 'Manifest').filter(
      (manifest) => manifest.start === start || object.start === start,
    ),
  );
}

/** Reports a reference with contradictory type, transforms or position. */
function misuse(
  form: SignatureFormat,
  reference: ReferenceFormat,
  data: FoundData,
  role: ReferenceRole,
): Omit<Finding, 'detail'> | undefined {
  const { node } = form;
  const misplaced = role === 'properties' ? undefined : misplacedTarget(form, reference, data);
  if (misplaced !== undefined) return misplaced;
  if (claimsProperties(reference) && role !== 'properties') {
    const message =
      'A reference says it is over the signed properties of this signature, but is over something else.';
    return failed('structure.properties', message);
  }
  if (role === 'properties') {
    if (data.processing.output === 'base64' || changesNodes(data.processing)) {
      const message = 'The signed properties are transformed, so that not all of what they say is signed.';
      return failed('structure.properties', message);
    }
    if (!claimsProperties(reference)) {
      return warned('reference.type', 'The reference to the signed properties does not say that it is one.');
    }
  }
  const { filter, next } = data.processing;
  if (role !== 'data' && (filter !== undefined || next !== undefined)) {
    const message = 'A part of the signature is transformed, so that not all of what it says is signed.';
    return failed('reference.transforms', message);
  }
  const isEnveloped = stagesOf(data.processing).some(({ enveloped }) => enveloped);
  if (data.kind === 'element' && isEnveloped && !holds(data.place, node))
    return notEnveloped(data.place, node);
  return undefined;
}

/**
 * Reports an enveloped transform without effect, because the signature stands outside the element (XML Signature 1.1 §6.6.4).
 * Profiles of several countries prescribe it for a signature beside the element. Elsewhere, the element was probably moved.
 */
function notEnveloped({ parent }: ElementPlace, node: SignatureNode): Omit<Finding, 'detail'> {
  const type = 'reference.position';
  if (parent !== undefined && holds(parent, node)) {
    const message =
      'A reference has the transform of a signature inside of the element, but the signature stands beside it.';
    return warned(type, message);
  }
  const message =
    'A reference was made for an element around the signature, but the signature does not stand in it.';
  return failed(type, message, 'SIG_CONSTRAINTS_FAILURE');
}

/** Examines the references of ds:Manifest = Reference+ (XML Signature 1.1 §5.1) as those of SignedInfo. */
function examineManifests(
  context: ReferenceContext,
  form: SignatureFormat,
  {
    examined: { data },
    findings,
    hashes,
  }: {
    readonly examined: ExaminedReference;
    readonly findings: Finding[];
    readonly hashes: Set<string>;
  },
): ExaminedReference[] {
  const manifests = data?.kind === 'element' ? manifestsAt(form, data.place.start) : [];
  const listed = manifests.flatMap((manifest) => childrenNamed(manifest, DS, 'Reference'));
  const others = manifests.some(({ children }) => children.some((child) => !is(child, DS, 'Reference')));
  if (listed.length > MAX_LISTED) {
    const message = `The manifest holds more than ${MAX_LISTED} references, which are not followed.`;
    findings.push(failed('structure.manifest', message, 'GENERIC'));
    return [];
  }
  // XML Signature 1.1 §5.1: Manifest = Reference+.
  if (listed.length === 0 || others) {
    findings.push(failed('structure.manifest', 'The manifest holds something else than references.'));
    return [];
  }
  return listed.flatMap((node) => {
    try {
      const examined = examine(context, form, { reference: readReference(node), findings, hashes });
      if (examined.role === 'manifest') findings.push(NESTED_MANIFEST);
      return [examined];
    } catch (error) {
      if (!(error instanceof FormFault)) throw error;
      findings.push(failed('structure.manifest', `The manifest can't be read: ${error.message}.`));
      return [];
    }
  });
}

const NESTED_MANIFEST: Finding = failed(
  'structure.manifest',
  'A manifest lists another manifest, whose references are not followed.',
  'SIGNED_DATA_NOT_FOUND',
);

// The position that the target of a reference must have (XML Signature 1.1 §4.4.3.1, §4.5, §5.1 and §5.2).
//
// A digest of an element does not fix its position: a signed Object can be moved and replaced by another. A target is
// therefore checked for the position in this signature that the Type of its reference, or its own name, requires.

/** Elements of XML Signature that a reference may cover at only one position of its own signature. */
const POSITIONS: ReadonlyMap<string, (form: SignatureFormat, start: number) => boolean> = new Map([
  ['Object', ({ objects }, start) => objects.some((object) => object.start === start)],
  ['Manifest', (form, start) => isInObject(form, start, 'Manifest')],
  ['SignatureProperties', (form, start) => isInObject(form, start, 'SignatureProperties')],
  ['KeyInfo', ({ keyInfo }, start) => keyInfo?.start === start],
]);

/** Reference types that state the target (XML Signature 1.1 §4.5 and §5.1). */
const TYPES: ReadonlyMap<string, string> = new Map([
  [OBJECT_TYPE, 'Object'],
  [MANIFEST_TYPE, 'Manifest'],
]);

/** Reports a target outside the position that its name or the reference's Type requires. */
function misplacedTarget(
  form: SignatureFormat,
  { type }: ReferenceFormat,
  data: FoundData,
): Omit<Finding, 'detail'> | undefined {
  const place = data.kind === 'element' ? data.place : undefined;
  const declared = TYPES.get(type ?? '');
  const name = place?.namespace === DS ? place.local : undefined;
  if (declared !== undefined && declared !== name) {
    return misplaced(`A reference says it is over a ds:${declared}, but is over something else.`);
  }
  const isPlaced = POSITIONS.get(name ?? '');
  if (place === undefined || isPlaced === undefined || isPlaced(form, place.start)) return undefined;
  return misplaced(`A reference is over a ds:${name} that does not stand in its place in the signature.`);
}

function misplaced(message: string): Omit<Finding, 'detail'> {
  return failed('reference.position', message, 'SIGNED_DATA_NOT_FOUND');
}

function isInObject({ objects }: SignatureFormat, start: number, local: string): boolean {
  const found = (child: SignatureNode): boolean => is(child, DS, local) && child.start === start;
  return objects.some(({ children }) => children.some(found));
}
