/** The two kinds of containers and the roles of their members by name (EN 319 162-1 §4.3.3, §4.4.3, Annex A). */

export type AsicKind = 'S' | 'E';

export const MIME_TYPE: { readonly [kind in AsicKind]: string } = {
  S: 'application/vnd.etsi.asic-s+zip',
  E: 'application/vnd.etsi.asic-e+zip',
};

export const MIME_TYPE_MEMBER = 'mimetype';

/** Folder of signatures and manifests. */
const META_INF = 'META-INF/';

/** Fixed names, and prefixes of generated names. */
export const NAMES = {
  /** XAdES in ASiC-S; in ASiC-E with several files, the first one. */
  signatures: `${META_INF}signatures.xml`,
  /** CAdES in ASiC-S. */
  signature: `${META_INF}signature.p7s`,
  /** OpenDocument manifest with the media type of each data object. */
  openDocument: `${META_INF}manifest.xml`,
  /** Newest archive manifest; it is renamed with a number when the next one is added. */
  archiveManifest: `${META_INF}ASiCArchiveManifest.xml`,
} as const;

/** Role of a member. */
export type MemberRole =
  | 'mimetype'
  | 'data'
  | 'folder'
  | 'xades'
  | 'cades'
  | 'manifest'
  | 'archive-manifest'
  | 'timestamp'
  /** An evidence record or its manifest (EN 319 162-1 §4.3.3.2, §4.4.4.2). */
  | 'evidence-record'
  /** Part of the package that needs no signature: the OpenDocument manifest. */
  | 'package'
  /** A member of META-INF with an unknown name. */
  | 'unknown';

/** Returns the role of a member; names are case-sensitive. */
export function roleOf(name: string): MemberRole {
  if (name.endsWith('/')) return 'folder';
  if (name === MIME_TYPE_MEMBER) return 'mimetype';
  if (!name.startsWith(META_INF)) return 'data';
  const file = name.slice(META_INF.length);
  if (/^ASiCArchiveManifest[^/]*\.xml$/.test(file)) return 'archive-manifest';
  if (/^ASiCEvidenceRecordManifest[^/]*\.xml$/.test(file)) return 'evidence-record';
  if (/^[^/]*evidencerecord[^/]*\.(ers|xml)$/.test(file)) return 'evidence-record';
  if (/^ASiCManifest[^/]*\.xml$/.test(file)) return 'manifest';
  if (/^[^/]*signatures[^/]*\.xml$/.test(file)) return 'xades';
  if (/^[^/]*signature[^/]*\.p7s$/.test(file)) return 'cades';
  if (/^[^/]*timestamp[^/]*\.tst$/.test(file)) return 'timestamp';
  return name === NAMES.openDocument ? 'package' : 'unknown';
}

/** True for names that a lenient reader mistakes for `mimetype` or a folder META-INF. */
export function isLookalike(name: string): boolean {
  const plain = name.normalize('NFKC').toLowerCase();
  if (plain.startsWith('meta-inf/') && !name.startsWith(META_INF)) return true;
  return (plain === MIME_TYPE_MEMBER && name !== MIME_TYPE_MEMBER) || plain === 'meta-inf';
}

/** Returns the kind for the content of `mimetype`. */
export function kindOf(mimeType: string): AsicKind | undefined {
  return mimeType === MIME_TYPE.S ? 'S' : mimeType === MIME_TYPE.E ? 'E' : undefined;
}

/** Returns the first free numbered name: `META-INF/signature001.p7s` and so on. */
export function freeName(stem: string, extension: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    const name = `${META_INF}${stem}${String(number).padStart(3, '0')}.${extension}`;
    if (!isTaken(name)) return name;
  }
}
