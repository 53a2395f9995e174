/**
 * The text of an ended actor and of its journal as one value of a few hundred bytes, compressed with a text that most actors
 * have in common.
 *
 * What follows from something else is left out: the address in the record, and the hashes. The hash of a line follows from
 * the line and the hash before it; its first digits stay, so that a changed line is named. That of the last line is the
 * record's.
 *
 * Source: docs/decisions/0295-ended-actors-are-packed.md.
 */
import { deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { lineHash } from '../../history/checkpoint.ts';
import type { ActorAddress, JournalLine, StoredActor } from '../../model/ports.ts';

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

/** The texts of an actor and of its lines, as they are stored unpacked. */
export interface Unpacked {
  readonly actor: string;
  readonly lines: readonly string[];
}

/** The packed value of an actor and its lines; undefined where it has not ended in one of these states, or is too large. */
export function packed(
  address: ActorAddress,
  actor: string,
  lines: readonly string[],
  states: readonly string[],
): Buffer | undefined {
  if (actor.length > MAX_LENGTH || !isAtRest(parsed<StoredActor>(actor), states)) return undefined;
  let head = '';
  const short = lines.map((line) => {
    const hash = line.slice(-HASH_DIGITS - 2, -2);
    const text = withoutHash(line, hash, head, address);
    head = hash;
    return text;
  });
  const start = actorStart(address);
  const end = actorEnd(head);
  const isShort = lines.length > 0 && actor.startsWith(start) && actor.endsWith(end);
  const text = [isShort ? actor.slice(start.length, -end.length) : actor, ...short].join('\n');
  if (text.length > MAX_LENGTH) return undefined;
  const method = text.length <= SMALL_LENGTH ? 1 : 2;
  return Buffer.concat([Buffer.of(method), deflateRawSync(text, PACKED_WITH[method])]);
}

/** The actor is an empty text, which is no JSON, where the value cannot be read. */
export function unpacked(address: ActorAddress, bytes: Buffer | undefined): Unpacked {
  let text = '';
  try {
    const method = PACKED_WITH[bytes?.[0] ?? -1];
    if (bytes !== undefined && method !== undefined)
      text = inflateRawSync(bytes.subarray(1), { ...method, maxOutputLength: MAX_BYTES }).toString();
  } catch {}
  const [actor = '', ...lines] = text.split('\n');
  let head = '';
  const whole = lines.map((line) => {
    const read = withHash(line, head, address);
    head = read.hash;
    return read.text;
  });
  const isShort = actor !== '' && !actor.startsWith('{');
  return { actor: isShort ? `${actorStart(address)}${actor}${actorEnd(head)}` : actor, lines: whole };
}

/** Begin of the text of an actor, which follows from its key; its end follows from its last line. */
function actorStart({ kind, id }: ActorAddress): string {
  return `${JSON.stringify({ address: { kind, id } }).slice(0, -1)},`;
}

function actorEnd(head: string): string {
  return `,"journalHash":"${head}"}`;
}

function isAtRest(actor: StoredActor | undefined, states: readonly string[]): boolean {
  if (actor === undefined) return false;
  const { state, timers, stopped } = actor;
  return states.includes(state) && stopped === null && Object.keys(timers).length === 0;
}

/** Undefined for a text that was changed from outside: it stays as it is, and who reads it is told. */
function parsed<Value>(text: string): Value | undefined {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
}

/** A line whose hash is what follows from it, with the first digits alone. */
function withoutHash(text: string, hash: string, before: string, address: ActorAddress): string {
  if (!text.endsWith(`,"hash":"${hash}"}`)) return text;
  const line = parsed<JournalLine>(text);
  // Nodes of earlier programs would add another hash.
  if (line?.salt !== undefined || line?.erased !== undefined) return text;
  if (line === undefined || lineHash(before, address, line) !== hash) return text;
  return `${text.slice(0, -HASH_DIGITS - 10)}"check":"${hash.slice(0, CHECK_DIGITS)}"}`;
}

const CHECKED = /,"check":"([0-9a-f]{8})"\}$/;

function withHash(
  text: string,
  before: string,
  address: ActorAddress,
): { readonly text: string; readonly hash: string } {
  const [end = '', check = ''] = CHECKED.exec(text) ?? [];
  const start = text.slice(0, -end.length);
  const line = end === '' ? undefined : parsed<JournalLine>(`${start}}`);
  if (line === undefined) return { text, hash: text.slice(-HASH_DIGITS - 2, -2) };
  const hash = lineHash(before, address, line);
  // One that was changed gets a hash that is not its own.
  const shown = hash.startsWith(check) ? hash : check.padEnd(HASH_DIGITS, '0');
  return { text: `${start},"hash":"${shown}"}`, hash: shown };
}
