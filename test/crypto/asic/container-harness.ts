/** Containers in a temporary folder, made by the product or by hand, and verified by it and by other programs. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import test from 'ava';
import { Container } from '#crypto/asic/container.js';
import { type AsicInput, type SignAsicRequest, signAsic } from '#crypto/asic/sign.js';
import { inspectAsic } from '#crypto/asic/validate.js';
import { openSource } from '#crypto/core/files.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import { validateFile } from '#crypto/files/validate-file.js';
import type { FileSignatures } from '#crypto/validation/signature-info.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { runTool } from '../../verifiers/index.ts';

export const NOW = Date.now();

const folder = mkdtempSync(join(tmpdir(), 'sealwright-asic-'));
let started: Promise<TestAuthority> | undefined;
test.after.always(async () => {
  await (await started)?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the authority of this process. */
export function authority(): Promise<TestAuthority> {
  started ??= startAuthority({ now: NOW });
  return started;
}

let files = 0;

/** Returns a new path, with a file when bytes are given. */
export function file(bytes?: Uint8Array | string, extension = 'bin'): string {
  const path = join(folder, `file-${++files}.${extension}`);
  if (bytes !== undefined) writeFileSync(path, bytes);
  return path;
}

export const REPORT = Buffer.from('One hundred barrels, to be paid on delivery.\n');
export const ORDER = Buffer.from('<order xmlns="urn:x"><item n="1">barrels</item></order>');

/** Returns two files of different types, one in a folder with a name that needs percent-encoding. */
export function twoInputs(): AsicInput[] {
  return [
    { path: file(REPORT), name: 'report & more.txt' },
    { path: file(ORDER), name: 'bestellungen/größe.xml' },
  ];
}

/** Creates a container; by default one input for S, two for E. */
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

/** Validates an hour after signing. */
export async function validated(
  path: string,
  more: { readonly at?: number; readonly format?: ValidationReport['format'] } = {},
): Promise<ValidationReport> {
  const { pki } = await authority();
  const trust = { anchors: [pki.root.certificate], intermediates: [], revocation: 'soft' } as const;
  return validateFile({ format: 'Asic', path, at: NOW + 3_600_000, trust, ...more });
}

/** Returns the indication, and the types of all failures of the file and its signatures. */
export async function verdict(path: string): Promise<string> {
  const { indication, results, signatures } = await validated(path);
  const errors = [results, ...signatures.map((signature) => signature.results)].flatMap((one) => one.errors);
  return [indication, ...new Set(errors.map(({ type }) => type))].join(' ');
}

export function facts(path: string): FileSignatures {
  const source = openSource(path);
  try {
    return inspectAsic(source);
  } finally {
    source.close();
  }
}

/** Lists the names of the members in file order. */
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

/** A member to be written by hand; each field of its records can be falsified separately. */
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
  /** False offset in the directory. */
  readonly offset?: number;
  /** Bytes after the data. */
  readonly after?: Buffer;
  /** True when the directory omits it. */
  readonly hidden?: boolean;
}

/** Builds a ZIP file by hand, without code of the product. */
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

/** Reads the members of a container as input of `handMade`. */
export function unpacked(path: string): HandMade[] {
  return membersOf(path).map((name) => ({ name, bytes: memberOf(path, name) }));
}

/** Rebuilds the container by hand with changed members. */
export function remade(
  path: string,
  change: (members: HandMade[]) => readonly HandMade[],
  more: Parameters<typeof handMade>[1] = {},
): string {
  return file(handMade(change(unpacked(path)), more), 'asice');
}

/** Changes the content of one member. */
export function replacing(name: string, change: (bytes: Buffer) => Buffer) {
  return (members: HandMade[]): HandMade[] =>
    members.map((member) => (member.name === name ? { ...member, bytes: change(member.bytes) } : member));
}

/**
 * Extracts by another program into a folder and returns its path. (`unzip` needs a locale for names beyond ASCII.)
 */
export async function extracted(path: string): Promise<string> {
  const target = join(folder, `out-${++files}`);
  mkdirSync(target);
  const script = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])';
  const { exit, stderr } = await runTool('python3', ['-X', 'utf8', '-c', script, path, target]);
  if (exit !== 0) throw new Error(`python3: ${stderr}`);
  return target;
}

/** Path of an extracted member. */
export function at(root: string, ...names: readonly string[]): string {
  const path = join(root, ...names);
  readFileSync(path);
  return path;
}

export function writeInto(root: string, name: string, bytes: Uint8Array): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), bytes);
}
