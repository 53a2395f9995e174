/**
 * Walk from the certificates printed in the Official Journal to the current list of lists and the national lists (TS
 * 119 615 §4.1, §4.2). The journal names certificates once; lists called pivots lead from them to later ones.
 */

import { ListFault } from '../qualification/list-tree.ts';
import {
  LIST_MEDIA_TYPE,
  LIST_OF_LISTS,
  type ListPointer,
  NATIONAL_LIST,
  readTrustedList,
  type TrustedList,
} from '../qualification/trusted-list.ts';
import { fingerprintOf } from '../x509/certificate.ts';
import { authenticate } from './authenticity.ts';

/** Beginning of trust. */
export interface ListAnchor {
  /** Address of the list of lists. */
  readonly location: string;
  /** Address of the journal that prints the certificates, as the list of lists names it. */
  readonly journal: string;
  /** SHA-256 of those certificates, lower-case hex. */
  readonly signers: ReadonlySet<string>;
}

/** Most pivots between a journal and the current list; five in seven years were the most. */
const MAX_PIVOTS = 32;

interface LotlRequest {
  readonly anchor: ListAnchor;
  readonly document: Buffer;
  /** Bytes of the list at an address; undefined: not at hand. */
  readonly pivot: (address: string) => Buffer | undefined;
  /** Present time, milliseconds since the epoch. */
  readonly at: number;
  /** True: also one that was to be renewed before. @default false */
  readonly isLateAllowed?: boolean | undefined;
}

/** Issue of a list that was accepted before. Plain data. */
export interface ReachedIssue {
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly issued: number;
}

/** Refuses a list older than the one that its address had. @throws {ListFault} */
export function assertNotOlder({ sequence, issued }: TrustedList, reached: ReachedIssue | undefined): void {
  if (reached === undefined || sequence > reached.sequence) return;
  if (sequence < reached.sequence)
    throw new ListFault(`has the sequence number ${sequence}, but ${reached.sequence} was accepted before`);
  if (issued < reached.issued) throw new ListFault('is an older issue of what was accepted before');
}

/**
 * Addresses of the pivots that a list of lists names, before anything of it is proven: on its own server only.
 * @throws {ListFault} @throws {CryptoError} as `readXml`
 */
export function unprovenPivots(document: Buffer, { journal, location }: ListAnchor): readonly string[] {
  const pivots = pivotsOf(readTrustedList(document), journal);
  const { origin } = new URL(location);
  const other = pivots.find((uri) => !URL.canParse(uri) || new URL(uri).origin !== origin);
  if (other !== undefined) throw new ListFault(`has the pivot ${other}, which is on another server`);
  return pivots;
}

/** Addresses of the pivots that lead to a list of lists from the journal, newest first. @throws {ListFault} */
function pivotsOf({ informationUris }: TrustedList, journal: string): readonly string[] {
  const end = informationUris.indexOf(journal);
  if (end < 0) throw new ListFault('does not name the configured journal');
  const pivots = informationUris.slice(0, end);
  if (pivots.some((uri) => !uri.endsWith('.xml')))
    throw new ListFault('names a newer journal than the configured one: its certificates are to be replaced');
  if (pivots.length > MAX_PIVOTS) throw new ListFault('has too many pivots');
  return pivots;
}

/** A list of lists and who may sign the next one. */
interface ReadLotl {
  readonly list: TrustedList;
  /** Its own address. */
  readonly location: string;
  readonly signers: ReadonlySet<string>;
}

/** Reads the list of lists and decides whether it is authentic. @throws {ListFault} @throws {CryptoError} as `readXml` */
export function readListOfLists({
  anchor,
  document,
  pivot,
  at,
  isLateAllowed = false,
}: LotlRequest): TrustedList {
  const newest = readLotl(document);
  if (newest.location !== anchor.location) throw new ListFault(`says that it stands at ${newest.location}`);
  const uris = pivotsOf(newest.list, anchor.journal);
  let above = { document, own: newest };
  for (const [index, uri] of uris.entries()) {
    const bytes = pivot(uri);
    if (bytes === undefined) throw new ListFault(`needs the pivot ${uri}, which is not there`);
    const own = readLotl(bytes);
    const rest = pivotsOf(own.list, anchor.journal);
    if (rest.join('\n') !== uris.slice(index).join('\n'))
      throw new ListFault(`has the pivot ${uri} in another order than that one has`);
    // Who signs the newer list stands in both.
    authenticate(above.document, both(above.own.signers, own.signers), at);
    above = { document: bytes, own };
  }
  authenticate(above.document, both(above.own.signers, anchor.signers), at);
  const { nextUpdate } = newest.list;
  if (nextUpdate === undefined || (nextUpdate < at && !isLateAllowed))
    throw new ListFault(
      nextUpdate === undefined ? 'is closed' : `was to be renewed by ${new Date(nextUpdate).toISOString()}`,
    );
  return newest.list;
}

function both(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one].filter((member) => other.has(member)));
}

/** Pivots may name the address of their time. */
function readLotl(document: Buffer): ReadLotl {
  const list = readTrustedList(document);
  if (list.type !== LIST_OF_LISTS || list.territory !== 'EU') throw new ListFault('is no list of lists');
  const [self, ...more] = list.pointers.filter(
    ({ type, mediaType }) => type === LIST_OF_LISTS && mediaType === LIST_MEDIA_TYPE,
  );
  if (self === undefined || more.length > 0) throw new ListFault('does not point to itself once');
  return { list, location: self.location, signers: fingerprintsOf(self) };
}

function fingerprintsOf({ signers }: ListPointer): ReadonlySet<string> {
  return new Set(signers.map(fingerprintOf));
}

/** Pointers of a list of lists to national lists as XML. */
export function nationalPointers({ pointers }: TrustedList): readonly ListPointer[] {
  return pointers.filter(({ type, mediaType }) => type === NATIONAL_LIST && mediaType === LIST_MEDIA_TYPE);
}

/** Reads a national list and decides whether it is authentic. @throws {ListFault} @throws {CryptoError} as `readXml` */
export function readNationalList(document: Buffer, pointer: ListPointer, at: number): TrustedList {
  const list = readTrustedList(document);
  if (list.type !== NATIONAL_LIST) throw new ListFault('is no national list');
  if (list.territory !== pointer.territory)
    throw new ListFault(`is that of ${list.territory}, not of ${pointer.territory}`);
  authenticate(document, fingerprintsOf(pointer), at);
  return list;
}
