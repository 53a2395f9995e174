/** Elements inside a signature, as a small tree: its structure has to be judged as a whole. */
import { namespaceOf, type Scope } from '../../xml/index.ts';

export interface SignatureNode {
  readonly namespace: string;
  readonly local: string;
  readonly attributes: readonly {
    readonly namespace: string;
    readonly local: string;
    readonly value: string;
  }[];
  /** In document order. What stands inside of foreign elements is not here. */
  readonly children: SignatureNode[];
  readonly parent: SignatureNode | undefined;
  /** Character data directly in it; that of ds:Object is left out, since it can be a whole file. */
  text: string;
  /** A comment or instruction stands in it: two readers may then see two different texts. */
  interrupted: boolean;
  /** Byte offsets of the element in the UTF-8 document. */
  readonly start: number;
  end: number;
  /** Of what stands between its tags; both after the tag when it is written as an empty-element tag. */
  readonly contentStart: number;
  contentEnd: number;
  /** What it inherits from around it. */
  readonly scope: Scope | undefined;
  /** The same with its own declarations. */
  readonly inner: Scope | undefined;
}

/** What is wrong with a structure; the message completes `The signature is not of the accepted form: `. */
export class FormFault extends Error {}

export function is(node: SignatureNode, namespace: string, local: string): boolean {
  return node.namespace === namespace && node.local === local;
}

/** The value of an attribute without namespace. */
export function attributeOf(node: SignatureNode, local: string): string | undefined {
  return node.attributes.find((found) => found.namespace === '' && found.local === local)?.value;
}

/** @throws {FormFault} when it is missing or empty */
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

/** @throws {FormFault} when there are several */
export function optionalChild(
  node: SignatureNode,
  namespace: string,
  local: string,
): SignatureNode | undefined {
  const [found, ...more] = childrenNamed(node, namespace, local);
  if (more.length > 0) throw new FormFault(`${node.local} holds several ${local}`);
  return found;
}

/** @throws {FormFault} when there is not exactly one */
export function onlyChild(node: SignatureNode, namespace: string, local: string): SignatureNode {
  const found = optionalChild(node, namespace, local);
  if (found === undefined) throw new FormFault(`${node.local} holds no ${local}`);
  return found;
}

/**
 * The children, which must be of these names in this order, `?` marking what may be missing and `*` what may repeat.
 * @throws {FormFault} also for text between them
 */
export function assertChildren(node: SignatureNode, namespace: string, ...kinds: readonly string[]): void {
  let at = 0;
  for (const kind of kinds) {
    const local = kind.replace(/[?*]$/, '');
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

/** Text of an element without elements, which nothing may interrupt. @throws {FormFault} */
export function textOf(node: SignatureNode): string {
  if (node.children.length > 0) throw new FormFault(`${node.local} holds elements instead of text`);
  if (node.interrupted) {
    throw new FormFault(`there is a comment or processing instruction inside the text of ${node.local}`);
  }
  return node.text;
}

/** Base64 without anything else but white space. @throws {FormFault} */
export function base64Of(node: SignatureNode): Buffer {
  const text = textOf(node).replace(/[ \t\r\n]+/g, '');
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new FormFault(`${node.local} is not base64`);
  }
  return Buffer.from(text, 'base64');
}

/** The algorithm of a method that takes no parameters here. @throws {FormFault} */
export function plainAlgorithm(node: SignatureNode): string {
  if (node.children.length > 0 || node.text.trim() !== '') {
    throw new FormFault(`${node.local} has parameters, which are not accepted`);
  }
  return requiredAttribute(node, 'Algorithm');
}

/** The namespace a prefix stands for inside of the element. */
export function namespaceInside(node: SignatureNode, prefix: string): string | undefined {
  return namespaceOf(node.inner, prefix);
}

/** True when the place lies inside of the node, or is the node. */
export function holds(
  node: { readonly start: number; readonly end: number },
  place: { readonly start: number; readonly end: number },
): boolean {
  return node.start <= place.start && place.end <= node.end;
}
