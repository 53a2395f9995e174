/** A folder for one test file, and short ways to sign and judge in it. */

import { createHash, webcrypto } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pkijs from 'pkijs';
import { signatureSource } from '#crypto/cades/armor-reader.js';
import { readDetachedContent } from '#crypto/cades/detached-content.js';
import { inspectCades } from '#crypto/cades/validate.js';
import { parseSignedData, type SignedData } from '#crypto/cms/parse.js';
import { openSource } from '#crypto/core/files.js';
import type { SignerIdentity } from '#crypto/core/types.js';
import type { FileSignatures } from '#crypto/validation/signature-info.js';
import { opensslCms } from '../../verifiers/index.ts';

pkijs.setEngine('node', new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto as never }));

const folder = mkdtempSync(join(tmpdir(), 'sealwright-cades-'));
// Not a hook of ava: those must be declared before any module that loads asynchronously.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** A new path, with a file there when bytes are given. */
export function file(bytes?: Uint8Array | string): string {
  const path = join(folder, `file-${++files}`);
  if (bytes !== undefined) writeFileSync(path, bytes);
  return path;
}

/** Bytes that differ at every place and length. */
export function bytes(length: number): Buffer {
  const content = Buffer.alloc(length);
  for (let at = 0; at < length; at++) content[at] = (at * 31 + (at >> 8)) & 0xff;
  return content;
}

export function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** A copy of a file in which one byte is another. */
export function changedCopy(path: string, at: number): string {
  const content = Buffer.from(readFileSync(path));
  content[at] = (content[at] ?? 0) ^ 1;
  return file(content);
}

/** Code of what `work` throws or rejects with; `none` when it doesn't. */
export async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
}

/** Returns the fields of a signature file, without its content. */
export function signedDataIn(path: string): SignedData {
  const source = openSource(path);
  try {
    return parseSignedData(readDetachedContent(signatureSource(source)).der);
  } finally {
    source.close();
  }
}

export function facts(path: string, content?: string): FileSignatures {
  const source = openSource(path);
  const beside = content === undefined ? undefined : openSource(content);
  try {
    return inspectCades(source, beside === undefined ? {} : { content: beside });
  } finally {
    source.close();
    beside?.close();
  }
}

/** Returns every failed finding of a file. */
export function failures(found: FileSignatures): string[] {
  const all = [
    ...found.findings,
    ...found.signatures.flatMap((one) => [
      ...one.findings,
      ...one.timestamps.flatMap(({ findings }) => findings),
      ...one.counterSignatures.flatMap(({ findings }) => findings),
    ]),
  ];
  return all.filter(({ status }) => status === 'failed').map(({ type, message }) => `${type}: ${message}`);
}

/** True when openssl and another CMS library accept every signature (the latter knows detached DER of the first). */
export async function accepted(request: {
  readonly signature: string;
  readonly content?: string;
  readonly ca: string;
  readonly form?: 'DER' | 'PEM';
  readonly out?: string;
}): Promise<string> {
  const verdict = await opensslCms(request);
  return verdict.ok ? 'accepted' : verdict.text;
}

/** The verdict of another CMS library on signer `place`. @param content left out, the one inside counts */
export async function otherLibrary(der: Buffer, content?: Buffer, place = 0): Promise<boolean> {
  const signedData = new pkijs.SignedData({ schema: pkijs.ContentInfo.fromBER(new Uint8Array(der)).content });
  const data = content === undefined ? {} : { data: Uint8Array.from(content).buffer };
  try {
    return await signedData.verify({ signer: place, checkChain: false, ...data });
  } catch {
    return false;
  }
}

/** Signed attributes (as a SET) and value of signer `place`, as another library reads them. */
export function readByOther(der: Buffer, place = 0): { readonly attributes: Buffer; readonly value: Buffer } {
  const signedData = new pkijs.SignedData({ schema: pkijs.ContentInfo.fromBER(new Uint8Array(der)).content });
  const signer = signedData.signerInfos[place];
  if (signer?.signedAttrs === undefined) throw new Error('no signed attributes');
  return {
    attributes: Buffer.from(signer.signedAttrs.encodedValue),
    value: Buffer.from(signer.signature.valueBlock.valueHexView),
  };
}

/** A signer without its key, as two-step signing knows it. */
export function identityOf({
  certificate,
  chain,
  keyType,
  keyBits,
  fingerprint,
}: SignerIdentity): SignerIdentity {
  return { certificate, chain, keyType, keyBits, fingerprint };
}
