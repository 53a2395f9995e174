/**
 * Parts of a spreadsheet and the elements of a part. Source: ECMA-376 part 2 (packages), part 1 §12 (parts of a
 * spreadsheet) and §22.9 (simple types); transitional and strict namespaces.
 */
import { posix } from 'node:path';
import {
  attributeValue,
  CryptoError,
  decodeXml,
  readXml,
  type StartTag,
  type XmlListener,
  ZipError,
  ZipMembers,
} from '@sealwright/signatures';
import { invalid } from '../../shared/generation/data-table.ts';

/** Maximum unpacked size of all parts that are read, bytes. */
const MAX_UNPACKED = 32 * 1024 * 1024;
/** Relationships of one part. */
const MAX_RELATIONSHIPS = 10_000;

const OFFICE = [
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  'http://purl.oclc.org/ooxml/officeDocument/relationships',
];
/** Namespaces of elements that are read; names in others begin with `!`. */
const READ: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  'http://purl.oclc.org/ooxml/spreadsheetml/main',
  'http://schemas.openxmlformats.org/package/2006/relationships',
]);

interface Relationship {
  /** Last part of the type's address, such as `worksheet`; empty for types of others. */
  readonly type: string;
  /** Name of the part; undefined for one outside of the file. */
  readonly part: string | undefined;
}

/** Reads an attribute without namespace; `r:id` is the one of relationships. */
type AttributeReader = (name: string) => string | undefined;

export interface ElementVisitor {
  /** @returns whether its children are read, its text is collected, or all of it is skipped */
  open(name: string, parent: string, attribute: AttributeReader): 'children' | 'text' | 'skip';
  /** @param text empty unless `open` asked for it */
  close(name: string, text: string): void;
}

/** Parts by name; names differ by more than case. Refusals: `InvalidGenerationFile`. */
export class SheetPackage {
  readonly #members: ZipMembers;
  /** By name in lower case (ECMA-376 part 2 §6.2.2). */
  readonly #names: ReadonlyMap<string, string>;
  #left = MAX_UNPACKED;

  constructor(bytes: Buffer) {
    if (bytes.subarray(0, 4).toString('hex') === 'd0cf11e0')
      throw invalid(
        'The file is a spreadsheet of an old format (XLS) or has a password. Save it as XLSX without a password.',
      );
    this.#members = readable('the file', () => new ZipMembers(bytes));
    this.#names = new Map(this.#members.names.map((name) => [name.toLowerCase(), name]));
    const other = this.#names.has('xl/workbook.bin')
      ? 'a binary spreadsheet (XLSB)'
      : this.#names.has('content.xml')
        ? 'an OpenDocument file'
        : undefined;
    if (other !== undefined) throw invalid(`The file is ${other}. Save it as XLSX.`);
  }

  /** Name of the part with the workbook. */
  workbook(): string {
    const found = [...this.relationships('').values()].find(({ type }) => type === 'officeDocument');
    return found?.part ?? 'xl/workbook.xml';
  }

  /** Relationships of a part by id; of the package for the empty name. */
  relationships(of: string): ReadonlyMap<string, Relationship> {
    const folder = posix.dirname(of);
    const path = posix.join(folder, '_rels', `${posix.basename(of)}.rels`);
    const found = new Map<string, Relationship>();
    this.visit(path, {
      open(name, _, attribute) {
        if (name === 'Relationships') return 'children';
        const id = attribute('Id');
        if (name !== 'Relationship' || id === undefined) return 'skip';
        if (found.size >= MAX_RELATIONSHIPS) throw invalid(`The part ${path} names too many parts.`);
        const type = attribute('Type') ?? '';
        const base = OFFICE.find((one) => type.startsWith(`${one}/`));
        const target = attribute('Target') ?? '';
        found.set(id, {
          type: base === undefined ? '' : type.slice(base.length + 1),
          part: attribute('TargetMode') === 'External' ? undefined : partNamed(target, folder),
        });
        return 'skip';
      },
      close() {},
    });
    return found;
  }

  /** Reads the elements of a part. @returns false when there is no such part */
  visit(part: string, visitor: ElementVisitor): boolean {
    const name = this.#names.get(part.toLowerCase());
    if (name === undefined) return false;
    readable(`the part ${name}`, () => {
      const packed = this.#members.read(name, this.#left);
      if (packed === undefined) return;
      this.#left -= packed.length;
      const { utf8 } = decodeXml(packed);
      readXml(utf8, new PartListener(utf8, visitor));
    });
    return true;
  }
}

/** Undefined for a target outside of the package. */
function partNamed(target: string, folder: string): string | undefined {
  try {
    const path = decodeURIComponent(target);
    const part = path.startsWith('/') ? posix.normalize(path).slice(1) : posix.join(folder, path);
    return part.startsWith('../') ? undefined : part;
  } catch {
    return undefined;
  }
}

function readable<Result>(what: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof ZipError) throw invalid(zipFault(error));
    if (!(error instanceof CryptoError)) throw error;
    if (error.code === 'xml.dtd')
      throw invalid(`In the spreadsheet, ${what} has a document type declaration, which is not read.`);
    throw invalid(`In the spreadsheet, ${what} is damaged. ${error.message}`);
  }
}

function zipFault({ flaw, message }: ZipError): string {
  if (flaw === 'too-large')
    return `The spreadsheet unpacks to more than is read, ${MAX_UNPACKED} bytes. Delete what is not part of the table.`;
  if (flaw === 'encrypted') return 'The spreadsheet is encrypted. Save it without a password.';
  return `The file is no spreadsheet (XLSX), or it is damaged. ${message}`;
}

/** Calls a visitor for elements; processing instructions and comments have no meaning. */
class PartListener implements XmlListener {
  readonly #bytes: Buffer;
  readonly #visitor: ElementVisitor;
  readonly #open: string[] = [];
  /** Elements that are open below the one that is skipped or whose text is collected. */
  #below = 0;
  #mode: 'children' | 'text' | 'skip' = 'children';
  #text = '';
  #tag: StartTag | undefined;

  constructor(bytes: Buffer, visitor: ElementVisitor) {
    this.#bytes = bytes;
    this.#visitor = visitor;
  }

  readonly #attribute: AttributeReader = (wanted) => {
    const tag = this.#tag as StartTag;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index];
      if (attribute === undefined) continue;
      const { uri } = attribute.namespace;
      const isIt =
        wanted === 'r:id'
          ? attribute.name.local === 'id' && OFFICE.includes(uri)
          : attribute.name.local === wanted && uri === '';
      if (isIt) return attributeValue(this.#bytes, attribute);
    }
    return undefined;
  };

  startElement(tag: StartTag): void {
    if (this.#mode !== 'children') {
      this.#below += 1;
      return;
    }
    const { local } = tag.name;
    const name = READ.has(tag.namespace.uri) ? local : `!${local}`;
    this.#tag = tag;
    this.#mode = this.#visitor.open(name, this.#open.at(-1) ?? '', this.#attribute);
    this.#open.push(name);
  }

  endElement(): void {
    if (this.#below > 0) {
      this.#below -= 1;
      return;
    }
    const mode = this.#mode;
    const text = this.#text;
    this.#mode = 'children';
    this.#text = '';
    const name = this.#open.pop() ?? '';
    if (mode !== 'skip') this.#visitor.close(name, text);
  }

  text(start: number, end: number): void {
    if (this.#mode === 'text' && this.#below === 0) this.#text += this.#bytes.toString('utf8', start, end);
  }

  character(code: number): void {
    if (this.#mode === 'text' && this.#below === 0) this.#text += String.fromCodePoint(code);
  }

  instruction(): void {}

  comment(): void {}
}
