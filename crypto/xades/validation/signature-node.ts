/** Elements of a signature as a small tree, so that its structure can be judged as a whole. */
import type { SubIndication } from '../../core/validation-report.ts';
import { namespaceOf, type Scope } from '../../xml/index.ts';

export interface SignatureNode {
  readonly namespace: string;
  /** Version of XAdES, for an element of an older one; its namespace is given as that of the current one. */
  readonly older?: string;
  readonly local: string;
  readonly attributes: readonly {
    readonly namespace: string;
    readonly local: string;
    readonly value: string;
  }[];
  /** Children in document order. Content of foreign elements is not included. */
  readonly children: SignatureNode[];
  readonly parent: SignatureNode | undefined;
  /** Character data directly in the element; empty for ds:Object, which can contain a whole file. */
  text: string;
  /** True when a comment or instruction interrupts the text: programs that read its first piece alone see another text. */
  interrupted: boolean;
  /** Byte offsets of the element in the UTF-8 document. */
  readonly start: number;
  end: number;
  /** Start of the content between the tags; the offset after the tag for an empty-element tag. */
  readonly contentStart: number;
  contentEnd: number;
  /** Scope inherited from the ancestors. */
  readonly scope: Scope | undefined;
  /** Inherited scope with the element's own declarations. */
  readonly inner: Scope | undefined;
}

/** Defects of a structure; the message completes `The signature is not of the accepted form: `. */
export class FormFault extends Error {}

/** Something that is not followed, or more than is examined: nothing is proven to be broken. */
export class UnsupportedFault extends FormFault {}

/** Returns FORMAT_FAILURE only for what the format forbids. */
export function subIndicationOf(fault: FormFault): SubIndication {
  return fault instanceof UnsupportedFault ? 'GENERIC' : 'FORMAT_FAILURE';
}

export function is(node: SignatureNode, namespace: string, local: string): boolean {
  return node.namespace === namespace && node.local === local;
}

/** Returns the value of an attribute without namespace. */
export function attributeOf(node: SignatureNode, local: string): string | undefined {
  return node.attributes.find((found) => found.namespace === '' && found.local === local)?.value;
}

/** Returns a required attribute. @throws {FormFault} when it is missing or empty */
export function requiredAttribute(node: SignatureNode, local: string): string {
  const value = attributeOf(node, local);
  if (value === undefined || value === '') throw new FormFault(`${node.local} has no ${local}`);
  return value;
}

export function childrenNamed(
  node: SignatureNode | undefined,
  namespace: string,
  local: string,
): SignatureNode[] {
  return node?.children.filter((child) => is(child, namespace, local)) ?? [];
}

/** Returns the only child of that name, or undefined. @throws {FormFault} when there are several */
export function optionalChild(
  node: SignatureNode,
  namespace: string,
  local: string,
): SignatureNode | undefined {
  const [found, ...more] = childrenNamed(node, namespace, local);
  if (more.length > 0) throw new FormFault(`${node.local} holds several ${local}`);
  return found;
}

/** Returns the only child of that name. @throws {FormFault} when there is not exactly one */
export function onlyChild(node: SignatureNode, namespace: string, local: string): SignatureNode {
  const found = optionalChild(node, namespace, local);
  if (found === undefined) throw new FormFault(`${node.local} holds no ${local}`);
  return found;
}

/**
 * Checks the children: these names in this order, `?` for optional and `*` for repeated ones.
 * @throws {FormFault} also for text between them
 */
export function assertChildren(node: SignatureNode, namespace: string, ...kinds: readonly string[]): void {
  let at = 0;
  for (const kind of kinds) {
    const local = kind.endsWith('?') || kind.endsWith('*') ? kind.slice(0, -1) : kind;
    const matches = (): boolean => {
      const child = node.children[at];
      return child !== undefined && is(child, namespace, local);
    };
    if (kind.endsWith('*')) while (matches()) at++;
    else if (matches()) at++;
    else if (!kind.endsWith('?')) throw unexpected(node, kinds);
  }
  if (at < node.children.length) throw unexpected(node, kinds);
  if (node.text.trim() !== '') throw new FormFault(`${node.local} holds text between its elements`);
}

function unexpected(node: SignatureNode, kinds: readonly string[]): FormFault {
  const found = node.children.map((child) => child.local);
  const shown = found.length > 12 ? `${found.slice(0, 12).join(', ')}, …` : found.join(', ');
  return new FormFault(`${node.local} holds (${shown}) instead of (${kinds.join(', ')})`);
}

/** Returns the text of an element without children; comments and instructions in it do not count. @throws {FormFault} */
export function textOf(node: SignatureNode): string {
  if (node.children.length > 0) throw new FormFault(`${node.local} holds elements instead of text`);
  return node.text;
}

/** Finds the elements of a signature whose text is cut by a comment or an instruction. */
export function interruptedIn(signature: SignatureNode): SignatureNode[] {
  const found: SignatureNode[] = [];
  const left = [signature];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    left.push(...node.children);
    if (node.interrupted && node.text.trim() !== '') found.push(node);
  }
  return found;
}

/** Decodes Base64 in which only white space is ignored. @throws {FormFault} */
export function base64Of(node: SignatureNode): Buffer {
  const written = textOf(node);
  const decoded = Buffer.from(written, 'base64');
  // The decoder reads much that is no Base64, but writes nothing else: saves a search of the text.
  if (written !== '' && decoded.toString('base64') === written) return decoded;
  const text = written.replace(/[ \t\r\n]+/g, '');
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new FormFault(`${node.local} is not base64`);
  }
  return Buffer.from(text, 'base64');
}

/** Returns the algorithm of a method without parameters. @throws {FormFault} */
export function plainAlgorithm(node: SignatureNode): string {
  if (node.children.length > 0 || node.text.trim() !== '') {
    throw new FormFault(`${node.local} has parameters, which are not accepted`);
  }
  return requiredAttribute(node, 'Algorithm');
}

/** Returns the namespace of a prefix inside the element. */
export function namespaceInside(node: SignatureNode, prefix: string): string | undefined {
  return namespaceOf(node.inner, prefix);
}

/** True when the range is inside the node, or is the node. */
export function holds(
  node: { readonly start: number; readonly end: number },
  place: { readonly start: number; readonly end: number },
): boolean {
  return node.start <= place.start && place.end <= node.end;
}
