/**
 * Inherited context of an element: namespace bindings, and attributes of the namespace `xml`. Canonicalizing a single
 * element needs it.
 */
import { type Attribute, attributeValue, type StartTag } from './events.ts';
import type { Name, Namespace, Prefix } from './names.ts';

/** Declarations of one element, linked to those of its ancestors. Immutable, so that positions can share it. */
export interface Scope {
  readonly outer: Scope | undefined;
  /** Depth of the declaring element; the root has 1. */
  readonly depth: number;
  readonly declared: readonly Binding[];
  /** Its `xml:` attributes. */
  readonly attributes: readonly InheritedAttribute[];
}

interface Binding {
  readonly prefix: Prefix;
  readonly namespace: Namespace;
}

export interface InheritedAttribute {
  readonly name: Name;
  readonly namespace: Namespace;
  readonly value: string;
}

/** Tracks the scope during a reading; its owner reports every start and end tag. */
export class ScopeTracker {
  readonly #bytes: Buffer;
  #current: Scope | undefined;
  #depth = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Scope of the innermost open element. */
  get current(): Scope | undefined {
    return this.#current;
  }

  /** Number of open elements. */
  get depth(): number {
    return this.#depth;
  }

  enter(tag: StartTag): void {
    this.#depth++;
    const attributes = this.#inheritable(tag);
    if (tag.declaredCount === 0 && attributes === undefined) return;
    this.#current = {
      outer: this.#current,
      depth: this.#depth,
      declared: tag.declared
        .slice(0, tag.declaredCount)
        .flatMap((prefix) =>
          prefix.namespace === undefined ? [] : [{ prefix, namespace: prefix.namespace }],
        ),
      attributes: attributes ?? [],
    };
  }

  leave(): void {
    if (this.#current?.depth === this.#depth) this.#current = this.#current.outer;
    this.#depth--;
  }

  #inheritable(tag: StartTag): InheritedAttribute[] | undefined {
    let found: InheritedAttribute[] | undefined;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index] as Attribute;
      if (attribute.name.prefix.text !== 'xml') continue;
      found ??= [];
      const { name, namespace } = attribute;
      found.push({ name, namespace, value: attributeValue(this.#bytes, attribute) });
    }
    return found;
  }
}

/** Returns all bindings in scope, each prefix once. */
export function bindingsOf(scope: Scope | undefined): Map<Prefix, Namespace> {
  const bindings = new Map<Prefix, Namespace>();
  for (let frame = scope; frame !== undefined; frame = frame.outer) {
    for (const { prefix, namespace } of frame.declared) {
      if (!bindings.has(prefix)) bindings.set(prefix, namespace);
    }
  }
  return bindings;
}

/** Returns the namespace of a prefix ('' = none); undefined when it is not declared. */
export function namespaceOf(scope: Scope | undefined, prefix: string): string | undefined {
  for (let frame = scope; frame !== undefined; frame = frame.outer) {
    const binding = frame.declared.find((declared) => declared.prefix.text === prefix);
    if (binding !== undefined) return binding.namespace.uri;
  }
  return undefined;
}

/** Returns `xml:` attributes by local name, innermost first. */
export function inheritedAttributes(scope: Scope | undefined): Map<string, InheritedAttribute[]> {
  const found = new Map<string, InheritedAttribute[]>();
  for (let frame = scope; frame !== undefined; frame = frame.outer) {
    for (const attribute of frame.attributes) {
      const list = found.get(attribute.name.local) ?? [];
      list.push(attribute);
      found.set(attribute.name.local, list);
    }
  }
  return found;
}

/** Binds the prefixes of a name table to this scope; returns a function that restores them. */
export function bindScope(scope: Scope | undefined): () => void {
  const before: (readonly [Prefix, Namespace | undefined])[] = [];
  for (const [prefix, namespace] of bindingsOf(scope)) {
    before.push([prefix, prefix.namespace]);
    prefix.namespace = namespace;
  }
  return () => {
    for (const [prefix, namespace] of before) prefix.namespace = namespace;
  };
}
