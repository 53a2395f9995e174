export {
  type CanonicalMethod,
  type CanonicalPlace,
  canonicalize,
  EXCLUSIVE,
  ExclusiveCanonicalizer,
} from './canonical.ts';
export type { ByteSink } from './canonical-output.ts';
export { type DecodedXml, decodeXml } from './encoding.ts';
export {
  type Attribute,
  attributeNamed,
  attributeValue,
  namesElement,
  type StartTag,
  type XmlListener,
} from './events.ts';
export {
  MAX_ATTRIBUTES,
  MAX_DEPTH,
  MAX_DOCUMENT_LENGTH,
  MAX_LISTED_PREFIXES,
  MAX_NAME_LENGTH,
  MAX_VALUE_LENGTH,
  UnreadXml,
} from './limits.ts';
export { type Name, Names } from './names.ts';
export { type RootPlace, readElement, readXml } from './reader.ts';
export { namespaceOf, type Scope, ScopeTracker } from './scope.ts';
export { ValuePrefixes } from './value-prefixes.ts';
