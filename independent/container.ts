/**
 * Verifies ASiC containers (EN 319 162-1) by their members: CAdES over the only file, or over a manifest whose
 * digests are compared with the listed files. XML signatures of containers reference files, which xml-crypto does not
 * fetch.
 */
import { createHash } from 'node:crypto';
import { DOMParser } from '@xmldom/xmldom';
import JSZip from 'jszip';
import { judgeCms } from './cms.ts';
import { type IndependentSignature, notComparable } from './types.ts';

const ASIC = 'http://uri.etsi.org/02918/v1.2.1#';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const DIGESTS: { readonly [uri: string]: string } = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384': 'sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
};
const SIGNATURE = /^META-INF\/[^/]*signature[^/]*\.p7s$/i;
const XML_SIGNATURES = /^META-INF\/[^/]*signatures[^/]*\.xml$/i;
const MANIFEST = /^META-INF\/ASiCManifest[^/]*\.xml$/i;
/** Limits: uncompressed bytes of all members, and number of members. */
const MAX_UNPACKED = 256 * 1024 * 1024;
const MAX_MEMBERS = 1000;

type Members = ReadonlyMap<string, Buffer>;

export async function judgeContainer(file: Buffer, at: number): Promise<readonly IndependentSignature[]> {
  const members = await membersOf(file);
  if (members === undefined) return [notComparable('The container is too large for the library.')];
  const judged: IndependentSignature[] = [];
  for (const [name, bytes] of members) {
    if (XML_SIGNATURES.test(name))
      judged.push(notComparable('The library does not fetch what is outside of the document.'));
    if (!SIGNATURE.test(name)) continue;
    const covered = coveredBy(name, members);
    if (covered === undefined) judged.push(notComparable(`What ${name} covers cannot be told.`));
    else judged.push(...withMisses(await judgeCms(bytes, covered.content, at), covered.misses));
  }
  return judged;
}

async function membersOf(file: Buffer): Promise<Members | undefined> {
  const zip = await JSZip.loadAsync(file, { checkCRC32: false });
  const entries = Object.values(zip.files).filter(({ dir }) => !dir);
  if (entries.length > MAX_MEMBERS) return undefined;
  const members = new Map<string, Buffer>();
  let left = MAX_UNPACKED;
  for (const entry of entries) {
    const { uncompressedSize = 0 } = (entry as unknown as { _data: { uncompressedSize?: number } })._data;
    left -= uncompressedSize;
    if (left < 0) return undefined;
    members.set(entry.name, await entry.async('nodebuffer'));
  }
  return members;
}

interface Covered {
  readonly content: Buffer;
  readonly misses: readonly string[];
}

/** Finds the data of a signature: the only file outside META-INF, or the manifest that names the signature. */
function coveredBy(signature: string, members: Members): Covered | undefined {
  for (const [name, bytes] of members) {
    if (!MANIFEST.test(name)) continue;
    const root = new DOMParser({ onError: () => {} }).parseFromString(bytes.toString('utf8'), 'text/xml');
    const [reference] = [...root.getElementsByTagNameNS(ASIC, 'SigReference')];
    if (decoded(reference?.getAttribute('URI')) !== signature) continue;
    const misses = [...root.getElementsByTagNameNS(ASIC, 'DataObjectReference')].flatMap((object) => {
      const path = decoded(object.getAttribute('URI'));
      const [method] = [...object.getElementsByTagNameNS(DS, 'DigestMethod')];
      const [value] = [...object.getElementsByTagNameNS(DS, 'DigestValue')];
      const digest = DIGESTS[method?.getAttribute('Algorithm') ?? ''];
      const member = members.get(path);
      if (member === undefined || digest === undefined) return [`${path} cannot be compared.`];
      const actual = createHash(digest).update(member).digest('base64');
      return actual === value?.textContent?.replace(/\s+/g, '')
        ? []
        : [`The digest of ${path} does not fit.`];
    });
    return { content: bytes, misses };
  }
  const files = [...members].filter(([name]) => name !== 'mimetype' && !name.startsWith('META-INF/'));
  const [only] = files;
  return only && files.length === 1 ? { content: only[1], misses: [] } : undefined;
}

function withMisses(
  signatures: readonly IndependentSignature[],
  [miss]: readonly string[],
): readonly IndependentSignature[] {
  if (miss === undefined) return signatures;
  return signatures.map((one) =>
    one.kind === 'signature' && one.verdict === 'valid' ? { ...one, verdict: 'invalid', reason: miss } : one,
  );
}

function decoded(uri: string | null | undefined): string {
  try {
    return decodeURIComponent(uri ?? '');
  } catch {
    return '';
  }
}
