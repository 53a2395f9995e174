/** The two kinds of containers and what their members are by name (EN 319 162-1 §4.3.3, §4.4.3, Annex A). */

export type AsicKind = 'S' | 'E';

export const MIME_TYPE: { readonly [kind in AsicKind]: string } = {
  S: 'application/vnd.etsi.asic-s+zip',
  E: 'application/vnd.etsi.asic-e+zip',
};

export const MIME_TYPE_MEMBER = 'mimetype';

/** Where everything about signatures is. */
const META_INF = 'META-INF/';

/** Names that are fixed, or that ours begin with. */
export const NAMES = {
  /** XAdES in ASiC-S; of several files in ASiC-E, the first one. */
  signatures: `${META_INF}signatures.xml`,
  /** CAdES in ASiC-S. */
  signature: `${META_INF}signature.p7s`,
  /** Of OpenDocument, which says of what type each data object is. */
  openDocument: `${META_INF}manifest.xml`,
  /** The newest one; it gets a number when the next one comes. */
  archiveManifest: `${META_INF}ASiCArchiveManifest.xml`,
} as const;

/** What a member is there for. */
export type MemberRole =
  | 'mimetype'
  | 'data'
  | 'folder'
  | 'xades'
  | 'cades'
  | 'manifest'
  | 'archive-manifest'
  | 'timestamp'
  /** Part of the package that no signature need cover: the OpenDocument manifest. */
  | 'package'
  /** In META-INF, and nothing that is known. */
  | 'unknown';

/** Names are compared as they are: what differs in case only is something else. */
export function roleOf(name: string): MemberRole {
  if (name.endsWith('/')) return 'folder';
  if (name === MIME_TYPE_MEMBER) return 'mimetype';
  if (!name.startsWith(META_INF)) return 'data';
  const file = name.slice(META_INF.length);
  if (/^ASiCArchiveManifest[^/]*\.xml$/.test(file)) return 'archive-manifest';
  if (/^ASiCManifest[^/]*\.xml$/.test(file)) return 'manifest';
  if (/^[^/]*signatures[^/]*\.xml$/.test(file)) return 'xades';
  if (/^[^/]*signature[^/]*\.p7s$/.test(file)) return 'cades';
  if (/^[^/]*timestamp[^/]*\.tst$/.test(file)) return 'timestamp';
  return name === NAMES.openDocument ? 'package' : 'unknown';
}

/** True for names that a careless reader takes for `mimetype` or a folder META-INF. */
export function isLookalike(name: string): boolean {
  const plain = name.normalize('NFKC').toLowerCase();
  if (plain.startsWith('meta-inf/') && !name.startsWith(META_INF)) return true;
  return (plain === MIME_TYPE_MEMBER && name !== MIME_TYPE_MEMBER) || plain === 'meta-inf';
}

/** The kind that the content of `mimetype` names. */
export function kindOf(mimeType: string): AsicKind | undefined {
  return mimeType === MIME_TYPE.S ? 'S' : mimeType === MIME_TYPE.E ? 'E' : undefined;
}

/** `META-INF/signature001.p7s` and so on: the first free number. */
export function freeName(stem: string, extension: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    const name = `${META_INF}${stem}${String(number).padStart(3, '0')}.${extension}`;
    if (!isTaken(name)) return name;
  }
}
