/**
 * Compares META-INF/manifest.xml, which no signature covers, with the container and with the signed media types
 * (EN 319 162-1 §4.4.3.2; OpenDocument 1.2 part 3 §4). Programs choose by it how they open a file.
 */
import { CryptoError } from '../core/types.ts';
import { type Finding, passed, warned } from '../core/validation-report.ts';
import {
  type Attribute,
  attributeValue,
  decodeXml,
  readXml,
  type StartTag,
  type XmlListener,
} from '../xml/index.ts';
import { printableName } from '../zip/zip-names.ts';
import type { Container } from './container.ts';
import { MAX_MANIFEST, OPEN_DOCUMENT } from './manifest.ts';

/** Media types by member, as signatures state them. */
export type SignedTypes = readonly (readonly [member: string, mimeType: string])[];

/** Deviations listed in one finding. */
const LISTED = 10;

/** Finding: `container.media-type`, a warning for each kind of deviation. */
export function mediaTypeFindings(container: Container, signed: SignedTypes): Finding[] {
  const type = 'container.media-type';
  const [name] = container.named('package');
  if (name === undefined) return [];
  const entries = readEntries(container.bytes(name, MAX_MANIFEST));
  if (typeof entries === 'string') {
    const message = 'META-INF/manifest.xml, which no signature covers, cannot be read.';
    return [warned(type, message, entries)];
  }
  const findings: Finding[] = [];
  const report = (message: string, all: readonly string[]): void => {
    if (all.length === 0) return;
    const more = all.length > LISTED ? ` and ${all.length - LISTED} more` : '';
    findings.push(warned(type, message, all.slice(0, LISTED).join(', ') + more));
  };
  const types = new Map(entries);
  const other = signed.filter(([member, mimeType]) => {
    const stated = types.get(member);
    return stated !== undefined && bare(stated) !== bare(mimeType);
  });
  report(
    'META-INF/manifest.xml, which no signature covers, states other media types than were signed.',
    [...new Map(other)].map(
      ([member, mimeType]) =>
        `${printableName(member)}: ${printableName(types.get(member) ?? '')}, signed ${printableName(mimeType)}`,
    ),
  );
  const objects = container.named('data');
  report(
    'META-INF/manifest.xml, which no signature covers, does not list files of the container.',
    objects.filter((member) => !types.has(member)).map(printableName),
  );
  const known = new Set([...objects, ...container.named('folder'), '/']);
  report(
    'META-INF/manifest.xml, which no signature covers, lists files that the container does not hold.',
    [...types.keys()].filter((path) => !known.has(path) && !path.startsWith('META-INF/')).map(printableName),
  );
  const seen = new Set<string>();
  const twice = entries.map(([path]) => path).filter((path) => seen.size === seen.add(path).size);
  report('META-INF/manifest.xml, which no signature covers, lists files twice.', twice.map(printableName));
  const root = types.get('/');
  if (root !== undefined && container.mimeType !== undefined && root.trim() !== container.mimeType.trim())
    report('META-INF/manifest.xml states another media type of the container than the container itself.', [
      printableName(root),
    ]);
  return findings.length > 0 ? findings : [passed(type, 'META-INF/manifest.xml agrees with the container.')];
}

/** Removes parameters: `text/xml; charset=utf-8` says no other kind of file than `text/xml`. */
function bare(mimeType: string): string {
  return (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Limit of entries, above that of members in a container. */
const MAX_ENTRIES = 30_000;

/** Reads the entries, or the reason why that is impossible. */
function readEntries(bytes: Buffer): (readonly [path: string, mimeType: string])[] | string {
  try {
    const { utf8 } = decodeXml(bytes);
    const reader = new EntryReader(utf8);
    readXml(utf8, reader);
    return reader.isManifest && reader.entries.length <= MAX_ENTRIES ? reader.entries : 'It is no manifest.';
  } catch (error) {
    if (error instanceof CryptoError) return error.message;
    throw error;
  }
}

/** manifest = file-entry { @full-path, @media-type }+. */
class EntryReader implements XmlListener {
  readonly entries: (readonly [path: string, mimeType: string])[] = [];
  isManifest = false;
  readonly #utf8: Buffer;
  #depth = 0;

  constructor(utf8: Buffer) {
    this.#utf8 = utf8;
  }

  startElement(tag: StartTag): void {
    const isOwn = (local: string): boolean => tag.namespace.uri === OPEN_DOCUMENT && tag.name.local === local;
    if (this.#depth === 0) this.isManifest = isOwn('manifest');
    else if (this.#depth === 1 && isOwn('file-entry') && this.entries.length <= MAX_ENTRIES)
      this.entries.push([this.#value(tag, 'full-path'), this.#value(tag, 'media-type')]);
    this.#depth++;
  }

  endElement(): void {
    this.#depth--;
  }

  text(): void {}
  character(): void {}
  instruction(): void {}
  comment(): void {}

  #value({ attributes, attributeCount }: StartTag, local: string): string {
    const found = attributes
      .slice(0, attributeCount)
      .find(({ name, namespace }: Attribute) => namespace.uri === OPEN_DOCUMENT && name.local === local);
    return found === undefined ? '' : attributeValue(this.#utf8, found);
  }
}
