/** Attributes of a canonical start tag: their order, and those an element inherits. */
import { type Attribute, attributeValue, type StartTag } from './events.ts';
import { joinReferences } from './join-references.ts';
import { type InheritedAttribute, inheritedAttributes, type Scope } from './scope.ts';

/** Orders by namespace name, then by local name, in code point order (Canonical XML 1.0 §2.2). */
export function compareAttributes(a: Attribute, b: Attribute): number {
  if (a.namespace !== b.namespace && a.namespace.order !== b.namespace.order) {
    return a.namespace.order < b.namespace.order ? -1 : 1;
  }
  return a.name.order < b.name.order ? -1 : 1;
}

/**
 * Returns all attributes of an apex element, unordered; undefined when it inherits none. Canonical XML 1.0 §2.4
 * inherits every `xml:` attribute; 1.1 §2.4 only `xml:lang` and `xml:space`, and joins `xml:base`.
 */
export function apexAttributes(
  source: Buffer,
  tag: StartTag,
  scope: Scope,
  joinsBase: boolean,
): readonly Attribute[] | undefined {
  const around = inheritedAttributes(scope);
  if (around.size === 0) return undefined;
  const own = tag.attributes.slice(0, tag.attributeCount);
  const ownLocal = (local: string): Attribute | undefined =>
    own.find(({ name }) => name.prefix.text === 'xml' && name.local === local);
  const result = [...own];
  for (const [local, values] of around) {
    const [nearest] = values;
    if (nearest === undefined) continue;
    if (joinsBase && local === 'base') {
      const before = ownLocal('base');
      const joined = joinBase(before === undefined ? undefined : attributeValue(source, before), values);
      if (before !== undefined) result.splice(result.indexOf(before), 1);
      if (joined !== '') result.push(made(nearest, joined));
    } else if (ownLocal(local) === undefined && (!joinsBase || local === 'lang' || local === 'space')) {
      result.push(made(nearest, nearest.value));
    }
  }
  return result;
}

/** Joins the `xml:base` values. @param around values of the ancestors, innermost first */
function joinBase(own: string | undefined, around: readonly InheritedAttribute[]): string {
  const values = around.map(({ value }) => value);
  if (own !== undefined) values.unshift(own);
  const [innermost = '', ...others] = values;
  return others.reduce((joined, outer) => joinReferences(outer, joined), innermost);
}

function made({ name, namespace }: InheritedAttribute, value: string): Attribute {
  return { name, namespace, start: 0, end: 0, decoded: Buffer.from(value) };
}
