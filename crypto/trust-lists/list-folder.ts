/**
 * Trusted lists of a folder: the list of lists, its pivots and national lists as files, without network. A national list
 * is read when a certificate of its country is judged; one that is not authentic counts as absent, with the reason.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CryptoError } from '../core/types.ts';
import { ListFault, MAX_LIST_BYTES } from '../qualification/list-tree.ts';
import type { TrustLists } from '../qualification/signature-qualification.ts';
import { notesOn, type TrustedList } from '../qualification/trusted-list.ts';
import { certificatesIn, fingerprintOf } from '../x509/certificate.ts';
import {
  assertNotOlder,
  type ListAnchor,
  nationalPointers,
  type ReachedIssue,
  readListOfLists,
  readNationalList,
} from './list-of-lists.ts';
import { EU_ANCHOR } from './official-journal.ts';

export interface FolderLists extends TrustLists {
  /** Sequence number of the list of lists. */
  readonly sequence: number;
  /** Sentences about lists that are not used or past their renewal, of those that were asked for. */
  readonly problems: readonly string[];
}

export interface FolderListsRequest {
  readonly folder: string;
  /** Folder with the certificates of the journal in PEM or DER. @default those that this version knows */
  readonly anchors?: string | undefined;
  /** Address of the journal that prints them. @default that of those certificates */
  readonly journal?: string | undefined;
  /** Address of the list of lists. @default that of the European Commission */
  readonly location?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Files of a folder that are looked at. */
const MAX_FILES = 1000;

/** Bytes of a list by the name of its file, in any case; undefined: there is none. */
export type FolderFiles = (name: string) => Buffer | undefined;

/**
 * Reads the list of lists of a folder. It and its pivots have the names by which their addresses end; a national list has
 * that of its own address, or `<territory>.xml`.
 * @throws {CryptoError} `request.invalid` without an authentic list of lists
 */
export function readListFolder(request: FolderListsRequest): FolderLists {
  const anchor = anchorOf(request);
  return listsIn(folderFiles(request.folder), { anchor, at: request.at });
}

/** Reads lists as `readListFolder` does. @param of `reached`: issues that were accepted before, by address */
export function listsIn(
  files: FolderFiles,
  of: {
    readonly anchor: ListAnchor;
    readonly at: number;
    readonly isLateAllowed?: boolean;
    readonly reached?: { readonly [address: string]: ReachedIssue };
    /** Present time of a service, which tries again what failed. @default `at` */
    readonly clock?: () => number;
  },
): FolderLists {
  const { anchor, at, isLateAllowed, reached = {}, clock = () => at } = of;
  const lotl = refusing('The list of lists', () => {
    const document = files(nameOf(anchor.location));
    if (document === undefined) throw new ListFault(`is not there: no file ${nameOf(anchor.location)}`);
    const pivot = (address: string) => files(pivotName(address)) ?? files(nameOf(address));
    const list = readListOfLists({ anchor, document, pivot, at, isLateAllowed });
    assertNotOlder(list, reached[anchor.location]);
    return list;
  });
  const problems: string[] = [];
  const say = (all: Iterable<string>) => {
    for (const one of all) if (!problems.includes(one)) problems.push(one);
  };
  const known = new Map<string, { readonly list: TrustedList | undefined; readonly readAt: number }>();
  const read = (territory: string, at: number): TrustedList | undefined => {
    const faults = new Set<string>();
    const candidates = nationalPointers(lotl)
      .filter((one) => one.territory === territory)
      .flatMap((pointer) =>
        [nameOf(pointer.location), `${territory}.xml`].map((name) => ({ pointer, name })),
      );
    for (const { pointer, name } of candidates) {
      try {
        const list = refusing(`The list of ${territory}`, () => {
          const bytes = files(name);
          if (bytes === undefined) return undefined;
          const found = readNationalList(bytes, pointer, at);
          assertNotOlder(found, reached[pointer.location]);
          return found;
        });
        if (list === undefined) continue;
        say(notesOn(list, at));
        return list;
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
        faults.add(error.message);
      }
    }
    say(faults);
    return undefined;
  };
  return {
    sequence: lotl.sequence,
    endsAt: lotl.nextUpdate,
    problems,
    listOf(territory) {
      const now = clock();
      const before = known.get(territory);
      if (before && (before.list || !isTriedAgain(before.readAt, now))) return before.list;
      const list = read(territory, now);
      known.set(territory, { list, readAt: now });
      return list;
    },
  };
}

/** Wait before a list that could not be read is tried again, milliseconds. */
const AGAIN_MS = 60_000;

/** True when what failed to be read is read again, also after the clock was put back. */
export function isTriedAgain(readAt: number, now: number): boolean {
  return Math.abs(now - readAt) >= AGAIN_MS;
}

/** @throws {CryptoError} `request.invalid` */
export function anchorOf({
  anchors,
  journal,
  location,
}: Pick<FolderListsRequest, 'anchors' | 'journal' | 'location'>): ListAnchor {
  const own = anchors === undefined ? EU_ANCHOR.signers : new Set(certificatesOf(anchors).map(fingerprintOf));
  if (own.size === 0) throw refused(`There is no certificate of the journal in ${anchors}.`);
  return {
    location: location ?? EU_ANCHOR.location,
    journal: journal ?? EU_ANCHOR.journal,
    signers: own,
  };
}

function certificatesOf(folder: string): Buffer[] {
  return readable(folder, () =>
    readdirSync(folder)
      .filter((name) => /\.(?:pem|crt|cer|der)$/i.test(name))
      .flatMap((name) => certificatesIn(bytesOf(join(folder, name)))),
  );
}

/** Lists of a folder. @throws {CryptoError} `request.invalid` */
export function folderFiles(folder: string): FolderFiles {
  const names = readable(folder, () => readdirSync(folder)).filter((name) => /\.xml$/i.test(name));
  if (names.length > MAX_FILES) throw refused(`There are more than ${MAX_FILES} lists in ${folder}.`);
  const files = new Map(names.map((name) => [name.toLowerCase(), name]));
  return (name) => {
    const found = files.get(name.toLowerCase());
    return found === undefined ? undefined : bytesOf(join(folder, found));
  };
}

/** Bytes of a file. @throws {ListFault} */
function bytesOf(path: string): Buffer {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new ListFault('is no file');
    if (found.size > MAX_LIST_BYTES) throw new ListFault(`has more than ${MAX_LIST_BYTES} bytes`);
    return readFileSync(path);
  } catch (error) {
    throw error instanceof ListFault ? error : new ListFault("is a file that can't be read");
  }
}

function readable<Result>(folder: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const why = error instanceof ListFault ? `: a file in it ${error.message}` : '';
    throw refused(`The folder ${folder} can't be read${why}.`);
  }
}

/** Last segment of an address. */
export function nameOf(address: string): string {
  return address.split(/[?#]/, 1)[0]?.split('/').at(-1) ?? '';
}

/** Name of a pivot that is kept: two may end in the same segment. */
export function pivotName(address: string): string {
  return `${createHash('sha256').update(address).digest('hex').slice(0, 16)}.xml`;
}

/** Characters of a sentence: parts of it come from lists that nobody has authenticated. */
const MAX_SENTENCE = 300;

function refused(message: string): CryptoError {
  const short = message.length > MAX_SENTENCE ? `${message.slice(0, MAX_SENTENCE - 1)}…` : message;
  return new CryptoError('request.invalid', short);
}

/** Completes the reason why a list is refused. @throws {CryptoError} `request.invalid` */
function refusing<Result>(subject: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw withReason(subject, error);
  }
}

/** The reason why a list is refused, as a sentence. @throws any other error */
export function withReason(subject: string, error: unknown): CryptoError {
  if (error instanceof ListFault) return refused(`${subject} ${error.message}.`);
  if (error instanceof CryptoError) return refused(`${subject} can't be read: ${error.message}`);
  throw error;
}
