/**
 * What the reader tells its listener. Ranges are byte offsets into the UTF-8 document given to the reader.
 * The objects passed are reused: a listener keeps numbers and strings, never the objects.
 */
import type { Name, Namespace, Prefix } from './names.ts';

/** An attribute that is not a namespace declaration. */
export interface Attribute {
  name: Name;
  namespace: Namespace;
  /** The value as written lies at `start`..`end`. */
  start: number;
  end: number;
  /** The value after normalisation where that differs from what is written, or where `"` occurs in it. */
  decoded: Buffer | undefined;
}

export interface StartTag {
  name: Name;
  namespace: Namespace;
  /** Only the first `attributeCount` are of this tag. */
  readonly attributes: Attribute[];
  attributeCount: number;
  /** Prefixes the tag declares, each bound to its namespace now. Only the first `declaredCount` are of this tag. */
  readonly declared: Prefix[];
  declaredCount: number;
  /** Offset of `<` and offset after `>`. */
  start: number;
  end: number;
  /** Written as an empty-element tag; an end event with an empty range follows at once. */
  empty: boolean;
  /**
   * Spelt as canonical form spells it, apart from attribute order: no declarations, no empty-element tag, one
   * space before each attribute, double quotes, no value that needs decoding.
   */
  plain: boolean;
}

export interface XmlListener {
  startElement(tag: StartTag): void;
  /** `plain`: the range `start`..`end` holds the end tag just as canonical form spells it. */
  endElement(name: Name, start: number, end: number, plain: boolean): void;
  /** Character data that is canonical as it stands. */
  text(start: number, end: number): void;
  /** One character of data that came from a reference, a CDATA section, a line end, or is `>`. */
  character(code: number): void;
  /** A processing instruction; its data, without the white space before it, lies at `dataStart`..`dataEnd`. */
  instruction(target: Name, dataStart: number, dataEnd: number): void;
  /** What stands between `<!--` and `-->`. */
  comment(start: number, end: number): void;
}

/** The value of an attribute after normalisation. */
export function attributeValue(bytes: Buffer, attribute: Attribute): string {
  return attribute.decoded === undefined
    ? bytes.toString('utf8', attribute.start, attribute.end)
    : attribute.decoded.toString('utf8');
}

/** The value of the attribute without namespace called `local`. */
export function attributeNamed(bytes: Buffer, tag: StartTag, local: string): string | undefined {
  for (let index = 0; index < tag.attributeCount; index++) {
    const attribute = tag.attributes[index];
    if (attribute?.name.text === local) return attributeValue(bytes, attribute);
  }
  return undefined;
}

/** True for attributes that name their element: `Id`, `ID`, `id`, `xml:id`, and longer names ending so. */
export function namesElement(attribute: Attribute): boolean {
  const { local } = attribute.name;
  const { length } = local;
  if (length < 2) return false;
  const [i, d] = [local.charCodeAt(length - 2) | 0x20, local.charCodeAt(length - 1) | 0x20];
  return i === 0x69 && d === 0x64;
}
