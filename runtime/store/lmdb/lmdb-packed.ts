/**
 * Ended actors take a fraction of their room: their record and their journal are one value of a few hundred bytes in
 * `packed`, compressed with a text that most actors have in common. Their entry in `actors` then holds the number of that
 * value and of the lines; its LMDB version lies between two revisions, so that a step finds out without another read.
 *
 * What follows from something else is left out: the address in the record, and the hashes. The hash of a line follows from
 * the line and the hash before it; its first digits stay, so that a changed line is named. That of the last line is the
 * record's.
 *
 * Source: docs/decisions/0295-ended-actors-are-packed.md.
 */
import { deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { lineHash } from '../../history/checkpoint.ts';
import { Fatal } from '../../model/failures.ts';
import { AFTER_ALL_TEXT } from '../../model/keys.ts';
import type { JournalLine, RestingActor, Row, StoredActor } from '../../model/ports.ts';
import { type Key, parseStored, type Tables } from './lmdb-tables.ts';

/** Added to the revision of an actor that is packed. */
export const PACKED = 0.5;

/** Key in `meta` of the last leaf, of a node, whose actor was packed. */
export const PACKED_UNTIL = 'packed';

/** Longer ones are left as they are, since each read and step of them would take milliseconds. */
const MAX_LENGTH = 65_536;
const MAX_BYTES = 3 * MAX_LENGTH;
/** Up to this length a text and the dictionary are in one small window. */
const SMALL_LENGTH = 2048;
/** Digits of a hash that stay. */
const CHECK_DIGITS = 8;
const HASH_DIGITS = 64;

/** Text that records have in common, the most frequent last. Never changed: a new one gets a number of its own. */
const COMMON = Buffer.from(
  [
    '"sealedPassword":"","operation":"Extend","subfolder":"","Xades","uploadSha256":"","by":"","reason":"Failed","Canceled",',
    '{"id":1,"at":179,"state":"Failed","message":"Retried as job ","cause":"FAIL","check":"","data":{"code":""}}\n',
    '"address":{"kind":"mail","id":"","kind":"document","id":"","state":"Concluded","context":{"organization":{"id":"","name":"',
    '"createdBy":{"name":"","identifier":null,"phone":null,"email":"@example.org","status":"Concluded","type":"Signer",',
    '"revision":4,"version":1,"state":"Completed","context":{"fileName":".pdf","originalPath":"/data/input/',
    '.pdf","format":"Pades","source":"Watcher","Upload","profileName":"default","folder":null,"folder":"default","parentJobId":null,"order":179,"pathKey":"',
    '","seen":{"size":,"mtimeMs":179},"uploadKey":null,"message":"Enqueued by watcher (folder default).","createdAt":179,"queuedAt":179,"updatedAt":179',
    ',"input":{"sha256":"","length":,"mtimeMs":179,"inode":"65024:","readAt":179},"signed":{"sha256":"","length":},"outputFileName":".signed.pdf',
    '","outputEncrypted":false,"output":null,"method":"Local","claimedAt":179,"endedAt":179,"times":{"stage":0.,"sign":1.,"verify":0.,"output":0.}',
    ',"remoteDocumentId":null,"awaitingSignerSince":null,"errorMessage":null,"errorCode":null,"untidy":false,"inputLeft":false},"timers":{},"consumed":[],',
    '"journalLength":4,"stopped":null\n',
    '{"id":1,"at":179,"state":"Queued","message":"Enqueued by upload.","cause":"CREATE","check":"',
    '"}\n{"id":2,"at":179,"state":"Processing","message":"Claimed by worker.","cause":"CLAIM","check":"',
    '"}\n{"id":3,"at":179,"state":"Verifying","message":"Signed.","cause":"SIGNED","check":"',
    '"}\n{"id":4,"at":179,"state":"Completed","message":"Verified and published.","cause":"SIGNED","check":"',
  ].join(''),
);

/** Methods of compression, by the first byte of a value. None is ever changed or removed. */
export const PACKED_WITH: { readonly [method: number]: ZlibOptions } = {
  1: { level: 3, windowBits: 12, memLevel: 3, dictionary: COMMON },
  2: { level: 3, dictionary: COMMON },
};

type PackTables = Pick<Tables, 'actors' | 'journal' | 'packed'>;

/** The texts of an actor and of its lines, as they are stored unpacked. */
interface Unpacked {
  readonly actor: string;
  readonly lines: readonly string[];
}

/** Number of the packed value and of its lines; undefined for an actor that is not packed. */
export function packedAt(value: string): readonly [number: number, lines: number] | undefined {
  return value.startsWith('[') ? parseStored(value) : undefined;
}

/** The text of an actor, packed or not. */
export function actorText(tables: Pick<Tables, 'packed'>, key: Key, value: string): string {
  return packedAt(value) === undefined ? value : readPacked(tables, key, value).actor;
}

/** @throws {Fatal} `store.damaged` */
export function readPacked({ packed }: Pick<Tables, 'packed'>, key: Key, value: string): Unpacked {
  const [number = -1] = packedAt(value) ?? [];
  const bytes = packed.get(number);
  let text = '';
  try {
    const method = PACKED_WITH[bytes?.[0] ?? -1];
    // Who reads it finds that an empty text is no JSON.
    if (bytes !== undefined && method !== undefined)
      text = inflateRawSync(bytes.subarray(1), { ...method, maxOutputLength: MAX_BYTES }).toString();
  } catch {}
  const [actor = '', ...lines] = text.split('\n');
  let head = '';
  const whole = lines.map((line) => {
    const read = withHash(line, head, key);
    head = read.hash;
    return read.text;
  });
  const isShort = actor !== '' && !actor.startsWith('{');
  return { actor: isShort ? `${actorStart(key)}${actor}${actorEnd(head)}` : actor, lines: whole };
}

/** Begin of the text of an actor, which follows from its key; its end follows from its last line. */
function actorStart([kind, id]: Key): string {
  return `${JSON.stringify({ address: { kind, id } }).slice(0, -1)},`;
}

function actorEnd(head: string): string {
  return `,"journalHash":"${head}"}`;
}

export function packedUntil({ meta }: Pick<Tables, 'meta'>, node: string): Row['key'] | undefined {
  const until = meta.get([PACKED_UNTIL, node]);
  return until === undefined ? undefined : parseStored(until);
}

/** Packs an actor, in a transaction. Does nothing where it has changed since, has not ended, or is too large. */
export function pack(tables: PackTables, { kind, id, revision, states }: RestingActor): void {
  const key: Key = [kind, id];
  if (!tables.actors.doesExist(key, revision)) return;
  const actor = tables.actors.get(key) ?? '';
  if (actor.length > MAX_LENGTH || !isAtRest(parseStored(actor), states)) return;
  const keys: Key[] = [];
  const lines: string[] = [];
  let head = '';
  for (const { key: at, value } of tables.journal.getRange({ start: key, end: [...key, AFTER_ALL_TEXT] })) {
    keys.push(at);
    const hash = value.slice(-HASH_DIGITS - 2, -2);
    lines.push(withoutHash(value, hash, head, key));
    head = hash;
  }
  const [start, end] = [actorStart(key), actorEnd(head)];
  const isShort = lines.length > 0 && actor.startsWith(start) && actor.endsWith(end);
  const text = [isShort ? actor.slice(start.length, -end.length) : actor, ...lines].join('\n');
  if (text.length > MAX_LENGTH) return;
  const method = text.length <= SMALL_LENGTH ? 1 : 2;
  const bytes = deflateRawSync(text, PACKED_WITH[method]);
  const [last = 0] = tables.packed.getKeys({ reverse: true, limit: 1 });
  void tables.packed.put(last + 1, Buffer.concat([Buffer.of(method), bytes]));
  // LMDB joins pages that are nearly empty at a removal only.
  void tables.actors.remove(key);
  void tables.actors.put(key, JSON.stringify([last + 1, keys.length]), revision + PACKED);
  for (const at of keys) void tables.journal.remove(at);
}

function isAtRest({ state, timers, stopped }: StoredActor, states: readonly string[]): boolean {
  return states.includes(state) && stopped === null && Object.keys(timers).length === 0;
}

/**
 * Undoes it, in a transaction. A value that cannot be read stays as it is: who reads the actor anew is told of the damage,
 * and the steps of the same transaction are written.
 * @returns false if the actor is not packed as of this revision, or cannot be unpacked
 */
export function unpack(tables: PackTables, key: Key, revision: number): boolean {
  if (!tables.actors.doesExist(key, revision + PACKED)) return false;
  const value = tables.actors.get(key) ?? '';
  const whole = readWhole(tables, key, value);
  if (whole === undefined) return false;
  const { actor, lines } = whole;
  for (const text of lines) void tables.journal.put([...key, parseStored<JournalLine>(text).id], text);
  void tables.actors.put(key, actor, revision);
  void tables.packed.remove(packedAt(value)?.[0] ?? -1);
  return true;
}

/** Undefined for a value that is damaged. */
function readWhole(tables: PackTables, key: Key, value: string): Unpacked | undefined {
  try {
    const unpacked = readPacked(tables, key, value);
    for (const text of [unpacked.actor, ...unpacked.lines]) parseStored(text);
    return unpacked;
  } catch (error) {
    if (error instanceof Fatal) return undefined;
    throw error;
  }
}

/** A line whose hash is what follows from it, with the first digits alone. */
function withoutHash(text: string, hash: string, before: string, [kind, id]: Key): string {
  if (!text.endsWith(`,"hash":"${hash}"}`)) return text;
  const expected = lineHash(before, { kind: String(kind), id: String(id) }, parseStored<JournalLine>(text));
  if (expected !== hash) return text;
  return `${text.slice(0, -HASH_DIGITS - 10)}"check":"${hash.slice(0, CHECK_DIGITS)}"}`;
}

const CHECKED = /,"check":"([0-9a-f]{8})"\}$/;

function withHash(
  text: string,
  before: string,
  [kind, id]: Key,
): { readonly text: string; readonly hash: string } {
  const [end, check = ''] = CHECKED.exec(text) ?? [];
  if (end === undefined) return { text, hash: text.slice(-HASH_DIGITS - 2, -2) };
  const start = text.slice(0, -end.length);
  const line = parseStored<JournalLine>(`${start}}`);
  const hash = lineHash(before, { kind: String(kind), id: String(id) }, line);
  // One that was changed gets a hash that is not its own.
  const shown = hash.startsWith(check) ? hash : check.padEnd(HASH_DIGITS, '0');
  return { text: `${start},"hash":"${shown}"}`, hash: shown };
}
