/** Members that a signature covers, and members that no signature covers. */

import { type Finding, failed, passed, warned } from '../core/validation-report.ts';
import type { SignatureInfo } from '../validation/signature-info.ts';
import { DS } from '../xades/elements/identifiers.ts';
import { childrenNamed, FormFault, type SignatureNode } from '../xades/validation/signature-node.ts';
import { readReference, readSignatureForm, targetOf } from '../xades/validation/signed-info.ts';
import { readTransforms, TransformFault } from '../xades/validation/transforms.ts';
import { nameOfUri, printableName } from '../zip/zip-names.ts';
import type { Container } from './container.ts';
import type { SignedTypes } from './media-types.ts';

/** A signature with the members it covers. */
export interface CoveringSignature {
  readonly facts: SignatureInfo;
  /** Media types that the signature states of members. */
  readonly types?: SignedTypes;
  readonly covered: ReadonlySet<string>;
  /** Members that only its counter-signatures cover. */
  readonly alsoCovered?: ReadonlySet<string>;
  /** Members that an archive time-stamp must cover to prove the signature. */
  readonly parts: readonly string[];
}

/** Members listed in full in one description. */
const NAMED = 10;

function listOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  const shown = names.slice(0, NAMED).map(printableName).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Converts the report on a signature for its container: adds its file name and the covered members. */
export function forContainer(
  file: string,
  facts: SignatureInfo,
  {
    covered,
    container,
    between = [],
  }: {
    readonly covered: ReadonlySet<string>;
    readonly container: Container;
    readonly between?: readonly string[] | undefined;
  },
): CoveringSignature {
  const objects = container.named('data');
  const own = objects.filter((name) => covered.has(name));
  const left = objects.filter((name) => !covered.has(name));
  const findings: Finding[] = [...facts.findings];
  if (own.length > 0 && left.length > 0) {
    findings.push(
      warned('scope.partial', 'The signature is not over every file of the container.', listOf(left)),
    );
  }
  if (own.length === 0) {
    findings.push(
      failed('structure.scope', 'The signature is over no file of the container.', 'SIG_CONSTRAINTS_FAILURE'),
    );
  }
  const description = own.length === 0 ? 'no file of the container' : listOf(own);
  const name = `${printableName(file)}: ${facts.name}`;
  return {
    facts: { ...facts, name, scope: { kind: 'container', description }, findings },
    covered,
    parts: [file, ...between, ...own],
  };
}

/**
 * Lists members that the signature's own references name, as whole bytes or whole XML. References in a ds:Manifest of
 * the signature are not included: verifiers need not check them.
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

/** Media types that a signature states of members: DataObjectFormat (EN 319 132-1 §5.2.4). */
export function statedTypes(signature: SignatureNode): SignedTypes {
  try {
    const { references, properties } = readSignatureForm(signature);
    return (properties?.signed?.formats ?? []).flatMap(({ reference, mimeType }) => {
      const uri = references.find(({ id }) => id !== undefined && reference === `#${id}`)?.uri;
      const name = nameOfUri(uri);
      return name === undefined ? [] : [[name, mimeType] as const];
    });
  } catch (error) {
    if (error instanceof FormFault) return [];
    throw error;
  }
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

/** Reports data objects without signature, and META-INF members without a known role. */
export function coverageFindings(
  container: Container,
  signatures: readonly CoveringSignature[],
  /** META-INF members with a known role. */
  accounted: ReadonlySet<string>,
): Finding[] {
  const covered = new Set(signatures.flatMap((one) => [...one.covered, ...(one.alsoCovered ?? [])]));
  const left = container.named('data').filter((name) => !covered.has(name));
  const strays = container
    .named('manifest', 'archive-manifest', 'timestamp', 'cades', 'unknown')
    .filter((name) => !accounted.has(name) && !covered.has(name));
  const findings: Finding[] = [];
  if (left.length > 0) {
    findings.push(
      failed(
        'container.uncovered',
        'No signature is over some of the files.',
        'SIG_CONSTRAINTS_FAILURE',
        listOf(left),
      ),
    );
  } else {
    findings.push(passed('container.covered', 'Every file is under a signature.'));
  }
  if (strays.length > 0) {
    findings.push(
      failed(
        'container.stray',
        'The container has files beside its signatures that belong to none of them.',
        'SIG_CONSTRAINTS_FAILURE',
        listOf(strays),
      ),
    );
  }
  return findings;
}
