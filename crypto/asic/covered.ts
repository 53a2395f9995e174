/** Which members a signature is over, and what of the container none is. */
import type { Finding, SignatureFacts } from '../validation/facts.ts';
import { DS } from '../xades/identifiers.ts';
import { readReference, targetOf } from '../xades/validation/references.ts';
import { childrenNamed, FormFault, type SignatureNode } from '../xades/validation/signature-node.ts';
import { readTransforms, TransformFault } from '../xades/validation/transforms.ts';
import type { Container } from './container.ts';
import { nameOfUri, shownName } from './zip-names.ts';

/** A signature, and the members it is over. */
export interface CoveringSignature {
  readonly facts: SignatureFacts;
  readonly covered: ReadonlySet<string>;
  /** Members that an archive time-stamp has to cover to prove the signature. */
  readonly parts: readonly string[];
}

/** Members named in full in one description. */
const NAMED = 10;

export function listOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  const shown = names.slice(0, NAMED).map(shownName).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** A signature as one of a container: told apart by its file, its scope in members. */
export function inContainer(
  file: string,
  facts: SignatureFacts,
  covered: ReadonlySet<string>,
  container: Container,
  /** Members between the signature and what it is over: its manifest. */
  between: readonly string[] = [],
): CoveringSignature {
  const objects = container.named('data');
  const own = objects.filter((name) => covered.has(name));
  const left = objects.filter((name) => !covered.has(name));
  const findings: Finding[] = [...facts.findings];
  if (own.length > 0 && left.length > 0) {
    findings.push({
      status: 'warning',
      type: 'scope.partial',
      message: 'The signature is not over every file of the container.',
      detail: listOf(left),
    });
  }
  if (own.length === 0) {
    findings.push({
      status: 'failed',
      type: 'structure.scope',
      message: 'The signature is over no file of the container.',
      subIndication: 'SIG_CONSTRAINTS_FAILURE',
    });
  }
  const description = own.length === 0 ? 'no file of the container' : listOf(own);
  const name = `${shownName(file)}: ${facts.name}`;
  return {
    facts: { ...facts, name, scope: { kind: 'container', description }, findings },
    covered,
    parts: [file, ...between, ...own],
  };
}

/**
 * Members that references of the signature itself name, as the whole of their bytes or of their XML. What a ds:Manifest
 * inside the signature lists is left out: verifiers need not look at it.
 */
export function referencedMembers(signature: SignatureNode): Set<string> {
  const covered = new Set<string>();
  const lists = childrenNamed(signature, DS, 'SignedInfo');
  for (const node of lists.flatMap((list) => childrenNamed(list, DS, 'Reference'))) {
    const name = wholeMember(node);
    if (name !== undefined) covered.add(name);
  }
  return covered;
}

function wholeMember(node: SignatureNode): string | undefined {
  try {
    const { uri, transforms } = readReference(node);
    const target = targetOf(uri);
    if (target.kind !== 'outside') return undefined;
    return readTransforms(transforms).output === 'base64' ? undefined : nameOfUri(target.uri);
  } catch (error) {
    if (error instanceof FormFault || error instanceof TransformFault) return undefined;
    throw error;
  }
}

/** Every data object has to be under some signature, and nothing may hide among the files about signatures. */
export function coverageFindings(
  container: Container,
  signatures: readonly CoveringSignature[],
  /** Members about signatures that something accounts for. */
  accounted: ReadonlySet<string>,
): Finding[] {
  const covered = new Set(signatures.flatMap((signature) => [...signature.covered]));
  const left = container.named('data').filter((name) => !covered.has(name));
  const strays = container
    .named('manifest', 'archive-manifest', 'timestamp', 'cades', 'unknown')
    .filter((name) => !accounted.has(name) && !covered.has(name));
  const findings: Finding[] = [];
  if (left.length > 0) {
    findings.push({
      status: 'failed',
      type: 'container.uncovered',
      message: 'No signature is over some of the files.',
      detail: listOf(left),
      subIndication: 'SIG_CONSTRAINTS_FAILURE',
    });
  } else {
    findings.push({
      status: 'passed',
      type: 'container.covered',
      message: 'Every file is under a signature.',
    });
  }
  if (strays.length > 0) {
    findings.push({
      status: 'failed',
      type: 'container.stray',
      message: 'The container has files beside its signatures that belong to none of them.',
      detail: listOf(strays),
      subIndication: 'SIG_CONSTRAINTS_FAILURE',
    });
  }
  return findings;
}
