/** Containers in a folder of their own, made by us or put together by hand, and judged by us and by others. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import test from 'ava';
import { Container } from '../../../crypto/asic/container.ts';
import { asicFacts } from '../../../crypto/asic/facts.ts';
import { type AsicInput, type SignAsicRequest, signAsic } from '../../../crypto/asic/sign.ts';
import { openSource } from '../../../crypto/files/source.ts';
import type { FileFacts } from '../../../crypto/validation/facts.ts';
import type { ValidationReport } from '../../../crypto/validation/report.ts';
import { validateFile } from '../../../crypto/validation/validate.ts';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { runTool } from '../../verifiers/index.ts';

export const NOW = Date.now();

const folder = mkdtempSync(join(tmpdir(), 'sealwright-asic-'));
let started: Promise<TestAuthority> | undefined;
test.after.always(async () => {
  await (await started)?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The authority of this process. */
export function authority(): Promise<TestAuthority> {
  started ??= startAuthority({ now: NOW });
  return started;
}

let files = 0;

/** A new path, with a file there when bytes are given. */
export function file(bytes?: Uint8Array | string, extension = 'bin'): string {
  const path = join(folder, `file-${++files}.${extension}`);
  if (bytes !== undefined) writeFileSync(path, bytes);
  return path;
}

export const REPORT = Buffer.from('One hundred barrels, to be paid on delivery.\n');
export const ORDER = Buffer.from('<order xmlns="urn:x"><item n="1">barrels</item></order>');

/** Two files of different kinds, one of them in a folder and with a name that has to be percent-encoded. */
export function twoInputs(): AsicInput[] {
  return [
    { path: file(REPORT), name: 'report & more.txt' },
    { path: file(ORDER), name: 'bestellungen/größe.xml' },
  ];
}

/** A container made by us; one input for S, two for E, unless told otherwise. */
export async function made(
  kind: 'S' | 'E',
  format: 'Cades' | 'Xades',
  more: Partial<SignAsicRequest> = {},
): Promise<string> {
  const { pki, services } = await authority();
  const output = file(undefined, kind === 'S' ? 'asics' : 'asice');
  const inputs = kind === 'S' ? [{ path: file(REPORT), name: 'report.txt' }] : twoInputs();
  const signer = pki.signer('p-256');
  await signAsic({ kind, format, inputs, output, signer, at: NOW, ...more }, services);
  return output;
}

/** Our full report, an hour after signing. */
export async function validated(
  path: string,
  more: { readonly at?: number; readonly format?: ValidationReport['format'] } = {},
): Promise<ValidationReport> {
  const { pki } = await authority();
  const trust = { anchors: [pki.root.certificate], intermediates: [], revocation: 'soft' } as const;
  return validateFile({ format: 'Asic', path, at: NOW + 3_600_000, trust, ...more });
}

/** Indication, and the types of all that is wrong with the file and with its signatures. */
export async function verdict(path: string): Promise<string> {
  const { indication, results, signatures } = await validated(path);
  const errors = [results, ...signatures.map((signature) => signature.results)].flatMap((one) => one.errors);
  return [indication, ...new Set(errors.map(({ type }) => type))].join(' ');
}

export function facts(path: string): FileFacts {
  const source = openSource(path);
  try {
    return asicFacts(source);
  } finally {
    source.close();
  }
}

/** Names of the members, in the order of the file. */
export function membersOf(path: string): string[] {
  return withContainer(path, ({ directory }) => directory.entries.map(({ name }) => name));
}

export function memberOf(path: string, name: string): Buffer {
  return withContainer(path, (container) => container.bytes(name));
}

function withContainer<T>(path: string, read: (container: Container) => T): T {
  const source = openSource(path);
  try {
    return read(new Container(source));
  } finally {
    source.close();
  }
}

/** A member as it is to be written by hand; everything that can be lied about can be told apart. */
export interface HandMade {
  readonly name: string;
  readonly bytes: Buffer;
  readonly deflate?: boolean;
  readonly localName?: string;
  readonly localBytes?: Buffer;
  readonly flags?: number;
  readonly localFlags?: number;
  readonly method?: number;
  readonly crc32?: number;
  readonly size?: number;
  readonly externalAttributes?: number;
  readonly madeBy?: number;
  readonly extra?: Buffer;
  readonly localExtra?: Buffer;
  /** In the directory, instead of the true one. */
  readonly offset?: number;
  /** What follows the data. */
  readonly after?: Buffer;
  /** Left out of the directory. */
  readonly hidden?: boolean;
}

/** A ZIP file put together by hand, without any code of the product. */
export function handMade(
  members: readonly HandMade[],
  more: { readonly comment?: Buffer; readonly before?: Buffer; readonly between?: Buffer } = {},
): Buffer {
  const parts: Buffer[] = [];
  const records: Buffer[] = [];
  let at = 0;
  const put = (bytes: Buffer): void => {
    parts.push(bytes);
    at += bytes.length;
  };
  put(more.before ?? Buffer.alloc(0));
  for (const member of members) {
    const { name, bytes, deflate = false, flags = 0, extra = Buffer.alloc(0) } = member;
    const packed = deflate ? deflateRawSync(bytes) : bytes;
    const shared = (own: number): Buffer => {
      const fields = Buffer.alloc(26);
      fields.writeUInt16LE(20, 0);
      fields.writeUInt16LE(own, 2);
      fields.writeUInt16LE(member.method ?? (deflate ? 8 : 0), 4);
      fields.writeUInt16LE(0x21, 8);
      fields.writeUInt32LE(member.crc32 ?? crc32(bytes), 10);
      fields.writeUInt32LE(packed.length, 14);
      fields.writeUInt32LE(member.size ?? bytes.length, 18);
      return fields;
    };
    const start = at;
    const localName = Buffer.from(member.localName ?? name);
    const localExtra = member.localExtra ?? Buffer.alloc(0);
    const local = shared(member.localFlags ?? flags);
    local.writeUInt16LE(localName.length, 22);
    local.writeUInt16LE(localExtra.length, 24);
    put(Buffer.concat([Buffer.from('PK\x03\x04'), local, localName, localExtra]));
    put(member.localBytes ?? packed);
    put(member.after ?? Buffer.alloc(0));
    if (member.hidden === true) continue;
    const central = shared(flags);
    const nameBytes = Buffer.from(name);
    central.writeUInt16LE(nameBytes.length, 22);
    central.writeUInt16LE(extra.length, 24);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(member.externalAttributes ?? 0, 6);
    rest.writeUInt32LE(member.offset ?? start, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE(member.madeBy ?? 20);
    records.push(Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, central, rest, nameBytes, extra]));
  }
  put(more.between ?? Buffer.alloc(0));
  const directory = Buffer.concat(records);
  const comment = more.comment ?? Buffer.alloc(0);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(records.length, 8);
  end.writeUInt16LE(records.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, directory, end, comment]);
}

/** The members of a container as `handMade` takes them. */
export function unpacked(path: string): HandMade[] {
  return membersOf(path).map((name) => ({ name, bytes: memberOf(path, name) }));
}

/** The container with its members changed, put together by hand. */
export function remade(
  path: string,
  change: (members: HandMade[]) => readonly HandMade[],
  more: Parameters<typeof handMade>[1] = {},
): string {
  return file(handMade(change(unpacked(path)), more), 'asice');
}

/** Another text in one member. */
export function replacing(name: string, change: (bytes: Buffer) => Buffer) {
  return (members: HandMade[]): HandMade[] =>
    members.map((member) => (member.name === name ? { ...member, bytes: change(member.bytes) } : member));
}

/** Unpacked by another program into a folder, whose path this is. (`unzip` needs a locale for names beyond ASCII.) */
export async function extracted(path: string): Promise<string> {
  const target = join(folder, `out-${++files}`);
  mkdirSync(target);
  const script = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])';
  const { exit, stderr } = await runTool('python3', ['-X', 'utf8', '-c', script, path, target]);
  if (exit !== 0) throw new Error(`python3: ${stderr}`);
  return target;
}

/** Where an extracted member is. */
export function at(root: string, ...names: readonly string[]): string {
  const path = join(root, ...names);
  readFileSync(path);
  return path;
}

export function writeInto(root: string, name: string, bytes: Uint8Array): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), bytes);
}
