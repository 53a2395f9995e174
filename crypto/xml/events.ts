/**
 * Events of the reader for its listener. Ranges are byte offsets into the UTF-8 document. The objects are reused: a
 * listener keeps numbers and strings, never the objects.
 */
import type { Name, Namespace, Prefix } from './names.ts';

/** An attribute that is not a namespace declaration. */
export interface Attribute {
  name: Name;
  namespace: Namespace;
  /** Start of the value as written; it ends at `end`. */
  start: number;
  end: number;
  /** The normalised value if it differs from the written one or contains `"`. */
  decoded: Buffer | undefined;
}

export interface StartTag {
  name: Name;
  namespace: Namespace;
  /** Attributes; only the first `attributeCount` belong to this tag. */
  readonly attributes: Attribute[];
  attributeCount: number;
  /** Prefixes declared by the tag, bound to their namespaces. Only the first `declaredCount` belong to this tag. */
  readonly declared: Prefix[];
  declaredCount: number;
  /** Offset of `<` and offset after `>`. */
  start: number;
  end: number;
  /** True for an empty-element tag; an end event with an empty range follows. */
  empty: boolean;
  /**
   * True when written as in canonical form apart from attribute order: no declarations, no empty-element tag, one
   * space before each attribute, double quotes, no value that needs decoding.
   */
  plain: boolean;
}

export interface XmlListener {
  startElement(tag: StartTag): void;
  /** `plain`: the range `start`..`end` holds the end tag exactly as in canonical form. */
  endElement(name: Name, start: number, end: number, plain: boolean): void;
  /** Reports character data that is already canonical. */
  text(start: number, end: number): void;
  /** Reports one character from a reference, a CDATA section or a line end, or `>`. */
  character(code: number): void;
  /** Reports a processing instruction; its data, without the white space before it, is `dataStart`..`dataEnd`. */
  instruction(target: Name, dataStart: number, dataEnd: number): void;
  /** Reports a comment; the range excludes `<!--` and `-->`. */
  comment(start: number, end: number): void;
  /** Reports the start or the end of a CDATA section. */
  section?(at: number): void;
}

/** Returns the value of an attribute after normalisation. */
export function attributeValue(bytes: Buffer, attribute: Attribute): string {
  return attribute.decoded === undefined
    ? bytes.toString('utf8', attribute.start, attribute.end)
    : attribute.decoded.toString('utf8');
}

/** Returns the value of the attribute `local` without namespace. */
export function attributeNamed(bytes: Buffer, tag: StartTag, local: string): string | undefined {
  for (let index = 0; index < tag.attributeCount; index++) {
    const attribute = tag.attributes[index];
    if (attribute?.name.text === local) return attributeValue(bytes, attribute);
  }
  return undefined;
}

/** True for identifying attributes: `Id`, `ID`, `id`, `xml:id`, and longer names with these endings. */
export function namesElement(attribute: Attribute): boolean {
  const { local } = attribute.name;
  const { length } = local;
  if (length < 2) return false;
  const i = local.charCodeAt(length - 2) | 0x20;
  const d = local.charCodeAt(length - 1) | 0x20;
  return i === 0x69 && d === 0x64;
}
