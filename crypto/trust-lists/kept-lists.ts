/**
 * A folder of accepted trusted lists that a service keeps: `lists.json` names the folder of the lists in use, and the
 * sequence number that each address has reached. A refresh takes the newest authentic list of each address, from its
 * sources or as it was; nothing older than what was accepted once is taken, also after a restart.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { machineRandom } from '../core/system-time.ts';
import { CryptoError } from '../core/types.ts';
import type { AuthorityTransport } from '../evidence/authorities.ts';
import { MAX_LIST_BYTES } from '../qualification/list-tree.ts';
import type { TrustLists } from '../qualification/signature-qualification.ts';
import { type ListPointer, notesOn, type TrustedList } from '../qualification/trusted-list.ts';
import {
  type FolderFiles,
  folderFiles,
  isTriedAgain,
  listsIn,
  nameOf,
  pivotName,
  withReason,
} from './list-folder.ts';
import {
  assertNotOlder,
  type ListAnchor,
  nationalPointers,
  type ReachedIssue,
  readListOfLists,
  readNationalList,
  unprovenPivots,
} from './list-of-lists.ts';

/** Folder of the lists that are kept, and the beginning of trust in them. Plain data. */
export interface ListPlace {
  readonly folder: string;
  readonly anchor: ListAnchor;
}

/**
 * Gives the bytes of the list at an address; undefined: it has none. @param territory of a national list
 * @throws {ListFault} @throws {CryptoError}
 */
export type ListSource = (address: string, territory?: string) => Promise<Buffer | undefined>;

/** Result of a refresh. Plain data. */
export interface KeptState {
  /** Milliseconds since the epoch. */
  readonly checkedAt: number;
  /** Of the list of lists. */
  readonly sequence: number;
  /** End of the list of lists unless it is renewed, milliseconds since the epoch. */
  readonly endsAt: number;
  readonly territories: readonly string[];
  /** Sentences about lists that are missing, refused or late. */
  readonly problems: readonly string[];
}

interface StoredState extends KeptState {
  readonly version: 1;
  /** Name of the folder of the lists in use. */
  readonly generation: string;
  /** By address. */
  readonly reached: { readonly [address: string]: ReachedIssue };
}

const STATE_FILE = 'lists.json';
/** National lists of one list of lists. */
const MAX_POINTERS = 200;
/** Bytes of all lists together. */
const MAX_ALL_BYTES = 2 ** 28;
/** National lists that are fetched at once: each waits for another server, and takes up to 16 MiB. */
const FETCHED_AT_ONCE = 6;
/** Problems that are kept. */
const MAX_PROBLEMS = 100;

/** Reads what was kept; undefined: nothing yet. @throws {CryptoError} `request.invalid` when it cannot be read */
export function readKeptState(folder: string): KeptState | undefined {
  return readState(folder);
}

function readState(folder: string): StoredState | undefined {
  const path = join(folder, STATE_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(path);
  }
  try {
    const state: StoredState = JSON.parse(text);
    if (isWhole(state)) return state;
  } catch {
    // Said below.
  }
  throw unreadable(path);
}

function isWhole(state: StoredState): boolean {
  const { version, generation, reached, checkedAt, sequence, endsAt, territories, problems } = state;
  const issues = Object.values(reached ?? { none: {} }).flatMap(({ sequence, issued }) => [sequence, issued]);
  return (
    version === 1 &&
    /^[0-9a-f]{16}$/.test(generation) &&
    [checkedAt, sequence, endsAt, ...issues].every(Number.isFinite) &&
    [territories, problems].every((all) => Array.isArray(all) && all.every((one) => typeof one === 'string'))
  );
}

function unreadable(path: string): CryptoError {
  return new CryptoError(
    'request.invalid',
    `${path} can't be read, so nobody knows which lists were accepted. Restore it, or remove its folder.`,
  );
}

/**
 * Lists as they are kept, read again after each refresh. A list is authenticated when it is first asked for. Without
 * anything usable, no country has a list.
 * @param now milliseconds since the epoch
 */
export function keptLists({ folder, anchor }: ListPlace, now: () => number): () => TrustLists {
  let known:
    | { readonly key: string; readonly lists: TrustLists | undefined; readonly at: number }
    | undefined;
  return () => {
    const key = keyOf(join(folder, STATE_FILE));
    const at = now();
    if (known?.key !== key || (known.lists === undefined && isTriedAgain(known.at, at)))
      known = { key, lists: readKept({ folder, anchor }, now), at };
    return known.lists ?? NO_LISTS;
  };
}

const NO_LISTS: TrustLists = { listOf: () => undefined };

function readKept({ folder, anchor }: ListPlace, clock: () => number): TrustLists | undefined {
  try {
    const state = readState(folder);
    if (state === undefined) return undefined;
    const files = folderFiles(join(folder, state.generation));
    return listsIn(files, { anchor, at: clock(), isLateAllowed: true, reached: state.reached, clock });
  } catch (error) {
    if (error instanceof CryptoError) return undefined;
    throw error;
  }
}

function keyOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** Lists of a folder that an operator fills: a bundle for networks without access to the lists. */
export function folderSource(folder: string): ListSource {
  return async (address, territory) => {
    const files = folderFiles(folder);
    return files(nameOf(address)) ?? (territory === undefined ? undefined : files(`${territory}.xml`));
  };
}

/** Lists at their own addresses. @param location address that an operator configured */
export function networkSource(
  transport: AuthorityTransport,
  { location, timeoutMs }: { readonly location: string; readonly timeoutMs: number },
): ListSource {
  return (address) =>
    transport.exchange({
      url: address,
      method: 'GET',
      headers: { accept: 'application/vnd.etsi.tsl+xml, application/xml' },
      timeout: timeoutMs,
      maxBytes: MAX_LIST_BYTES,
      urlFrom: address === location ? 'operator' : 'certificate',
    });
}

/** Sources that fetch the next lists while one is read; of several lists of one country the first. */
function fetchedAhead(
  sources: readonly ListSource[],
  pointers: readonly ListPointer[],
): readonly ListSource[] {
  return sources.map((source) => {
    const territories = new Set<string>();
    const left = pointers.filter(
      ({ territory }) => !territories.has(territory) && territories.add(territory),
    );
    const begun = new Map<string, Promise<Buffer | undefined>>();
    const placeOf = (address: string, territory = '') => `${territory} ${address}`;
    return async (address, territory) => {
      while (begun.size < FETCHED_AT_ONCE) {
        const next = left.shift();
        if (next === undefined) break;
        const fetched = source(next.location, next.territory);
        // Its failure is told when its turn comes.
        fetched.catch(() => {});
        begun.set(placeOf(next.location, next.territory), fetched);
      }
      const own = placeOf(address, territory);
      try {
        return await (begun.get(own) ?? source(address, territory));
      } finally {
        begun.delete(own);
      }
    };
  });
}

interface Candidate {
  readonly list: TrustedList;
  readonly document: Buffer;
}

interface FoundLotl extends Candidate {
  readonly pivots: ReadonlyMap<string, Buffer>;
}

interface Refresh {
  readonly place: ListPlace;
  /** Asked in this order. */
  readonly sources: readonly ListSource[];
  /** Present time, milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Refreshes what is kept. @returns undefined: there is no authentic list of lists, now or from before; see `problems`
 * @param problems receives sentences about what is missing, refused or late
 * @throws {CryptoError} `request.invalid` when what is kept cannot be read; the system's error when it cannot be written
 */
export async function refreshLists(
  { place, sources, at }: Refresh,
  problems: string[] = [],
): Promise<KeptState | undefined> {
  const { folder, anchor } = place;
  const state = readState(folder);
  const reached = state?.reached ?? {};
  const kept = state && filesOfState(folder, state);
  const lotl = await newestLotl({ anchor, sources, at, kept, reached }, problems);
  if (lotl === undefined) return undefined;
  const next: { [address: string]: ReachedIssue } = { ...reached, [anchor.location]: issueOf(lotl.list) };
  const generation = machineRandom(8).toString('hex');
  const write = writerTo(join(folder, generation));
  const territories: string[] = [];
  const unproven = new Map<string, Buffer>();
  try {
    write(nameOf(anchor.location), lotl.document);
    for (const [address, document] of lotl.pivots) write(pivotName(address), document);
    const pointers = nationalPointers(lotl.list).slice(0, MAX_POINTERS);
    const asked = { sources: fetchedAhead(sources, pointers), at, kept, reached };
    for (const pointer of pointers) {
      if (territories.includes(pointer.territory)) continue;
      const found = await newestNational(pointer, asked, problems);
      if (found === undefined) {
        // Perhaps the clock is wrong: readers authenticate again.
        const unread = async (from: ListSource) => from(pointer.location, pointer.territory);
        const [before] = await tried(kept ? [keptSource(kept)] : [], '', unread, []);
        if (before && !unproven.has(pointer.territory)) unproven.set(pointer.territory, before);
        continue;
      }
      problems.push(...notesOn(found.list, at));
      next[pointer.location] = issueOf(found.list);
      write(`${pointer.territory}.xml`, found.document);
      territories.push(pointer.territory);
    }
    for (const [territory, before] of unproven)
      if (!territories.includes(territory)) write(`${territory}.xml`, before);
    syncFolder(join(folder, generation));
    const { sequence, nextUpdate = at } = lotl.list;
    const now: StoredState = {
      version: 1,
      generation,
      reached: next,
      checkedAt: at,
      sequence,
      endsAt: nextUpdate,
      territories,
      problems: [...new Set(problems)].slice(0, MAX_PROBLEMS),
    };
    if (!replaceState(folder, state, now)) {
      rmSync(join(folder, generation), { recursive: true, force: true });
      return readState(folder);
    }
    removeOthers(folder, [generation, state?.generation]);
    return now;
  } catch (error) {
    rmSync(join(folder, generation), { recursive: true, force: true });
    throw error;
  }
}

/** Undefined where the lists are gone, though the state is there: they come again, and no older ones. */
function filesOfState(folder: string, { generation }: StoredState): FolderFiles | undefined {
  const path = join(folder, generation);
  return statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : folderFiles(path);
}

interface Asked extends Omit<Refresh, 'place'> {
  readonly kept: FolderFiles | undefined;
  readonly reached: StoredState['reached'];
}

async function newestLotl(
  { anchor, sources, at, kept, reached }: Asked & { readonly anchor: ListAnchor },
  problems: string[],
): Promise<FoundLotl | undefined> {
  const read = async (source: ListSource, isLateAllowed: boolean): Promise<FoundLotl | undefined> => {
    const document = await source(anchor.location);
    if (document === undefined) return undefined;
    const pivots = new Map<string, Buffer>();
    for (const address of unprovenPivots(document, anchor)) {
      const bytes = await source(address);
      if (bytes !== undefined) pivots.set(address, bytes);
    }
    const list = readListOfLists({ anchor, document, pivot: (one) => pivots.get(one), at, isLateAllowed });
    assertNotOlder(list, reached[anchor.location]);
    return { list, document, pivots };
  };
  const fresh = await tried(sources, 'The list of lists', (source) => read(source, false), problems);
  const before =
    kept && (await tried([keptSource(kept)], 'The kept list of lists', (one) => read(one, true), problems));
  const found = newest([...fresh, ...(before ?? [])]);
  if (found === undefined) problems.push('There is no authentic list of lists.');
  else if ((found.list.nextUpdate ?? 0) < at)
    problems.push(`The list of lists was to be renewed by ${dateTime(found.list.nextUpdate ?? 0)}.`);
  return found;
}

async function newestNational(
  pointer: ListPointer,
  { sources, at, kept, reached }: Asked,
  problems: string[],
): Promise<Candidate | undefined> {
  const { location, territory } = pointer;
  const read = async (source: ListSource): Promise<Candidate | undefined> => {
    const document = await source(location, territory);
    if (document === undefined) return undefined;
    const list = readNationalList(document, pointer, at);
    assertNotOlder(list, reached[location]);
    return { list, document };
  };
  const subject = `The list of ${territory}`;
  const fresh = await tried(sources, subject, read, problems);
  const before = kept ? await tried([keptSource(kept)], `The kept list of ${territory}`, read, problems) : [];
  const found = newest([...fresh, ...before]);
  if (found === undefined) problems.push(`There is no authentic list of ${territory}.`);
  return found;
}

function keptSource(files: FolderFiles): ListSource {
  return async (address, territory) =>
    territory === undefined
      ? (files(pivotName(address)) ?? files(nameOf(address)))
      : files(`${territory}.xml`);
}

/** Returns what the sources have; a source whose list is refused adds the reason. */
async function tried<Found>(
  sources: readonly ListSource[],
  subject: string,
  read: (source: ListSource) => Promise<Found | undefined>,
  problems: string[],
): Promise<Found[]> {
  const all: Found[] = [];
  for (const source of sources) {
    try {
      const found = await read(source);
      if (found !== undefined) all.push(found);
    } catch (error) {
      problems.push(withReason(subject, error).message);
    }
  }
  return all;
}

/** The first of the highest sequence number, among equal ones of the last issue. */
function newest<Found extends Candidate>(all: readonly Found[]): Found | undefined {
  const isNewer = ({ list }: Found, { list: than }: Found) =>
    list.sequence > than.sequence || (list.sequence === than.sequence && list.issued > than.issued);
  return all.reduce<Found | undefined>(
    (best, one) => (best === undefined || isNewer(one, best) ? one : best),
    undefined,
  );
}

function issueOf({ sequence, issued }: TrustedList): ReachedIssue {
  return { sequence, issued };
}

function dateTime(at: number): string {
  return new Date(at).toISOString();
}

/** Writes files of a new folder, within the bound of all lists together. */
function writerTo(folder: string): (name: string, bytes: Buffer) => void {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  let total = 0;
  return (name, bytes) => {
    total += bytes.length;
    if (total > MAX_ALL_BYTES)
      throw new CryptoError('request.invalid', `The lists have more than ${MAX_ALL_BYTES} bytes together.`);
    writeDurably(join(folder, name), bytes);
  };
}

function writeDurably(path: string, content: Buffer | string): void {
  const descriptor = openSync(path, 'wx', 0o640);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * After a crash there is the earlier state or this one. @returns false: another node has replaced `before`, or is about
 * to; what it has reached stays
 */
function replaceState(folder: string, before: StoredState | undefined, state: StoredState): boolean {
  const path = join(folder, STATE_FILE);
  // Its exclusive creation is the lock.
  const temporary = `${path}.${before?.generation ?? '0'.repeat(16)}`;
  try {
    writeDurably(temporary, `${JSON.stringify(state, null, 2)}\n`);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (!isTaken || ageOf(join(folder, state.generation), temporary) > LEFT_BEHIND_MS)
      rmSync(temporary, { force: true });
    if (!isTaken) throw error;
    return false;
  }
  if (readState(folder)?.generation !== before?.generation) {
    rmSync(temporary, { force: true });
    return false;
  }
  renameSync(temporary, path);
  syncFolder(folder);
  return true;
}

/** Age after which another node has ended before it replaced the state, milliseconds. */
const LEFT_BEHIND_MS = 600_000;
/** Age up to which other folders are kept: another node may write or read them. Milliseconds. */
const KEPT_MS = 86_400_000;
/** Younger folders at most. */
const MAX_FOLDERS = 32;

/** By the clock of the file system: how much older than a file another one is, milliseconds. */
function ageOf(file: string, other: string): number {
  const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return timeOf(file) - timeOf(other);
}

function syncFolder(folder: string): void {
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** @param kept folders of this state and of the one before, the first being new */
function removeOthers(folder: string, kept: readonly [string, string | undefined]): void {
  const others = readdirSync(folder)
    .filter((name) => /^(?:lists\.json\.)?[0-9a-f]{16}$/.test(name) && !kept.includes(name))
    .map((name) => ({ path: join(folder, name), age: ageOf(join(folder, kept[0]), join(folder, name)) }))
    .toSorted((one, other) => one.age - other.age);
  for (const [index, { path, age }] of others.entries())
    if (age > KEPT_MS || index >= MAX_FOLDERS) rmSync(path, { recursive: true, force: true });
}
