/** Patterns of names that a watched folder ignores. */
import type { WatchedFolderSettings } from './contract.ts';

/** Files and directories of systems, file servers and programs, compared case-insensitively; `*` stands for any characters. */
export const SYSTEM_FILES: readonly string[] = [
  // Windows and macOS.
  'Thumbs.db',
  'ehthumbs.db',
  'ehthumbs_vista.db',
  'desktop.ini',
  '$RECYCLE.BIN',
  'RECYCLER',
  'System Volume Information',
  '.DS_Store',
  '._*',
  '.Trash*',
  '.Spotlight-V100',
  '.fseventsd',
  '__MACOSX',
  'Network Trash Folder',
  'Temporary Items',
  // File servers: recycle bins, snapshots, previews, and files that were removed while they were open.
  '@eaDir',
  '#recycle',
  '#snapshot',
  '@Recycle',
  '@Recently-Snapshot',
  '@tmp',
  '.@__thumb',
  '~snapshot',
  'lost+found',
  '.nfs*',
  '.smbdelete*',
  '.fuse_hidden*',
  // Shortcuts, streams beside a file, and locks of programs that compare folders.
  '*.lnk',
  '*:Zone.Identifier',
  '*:AFP_AfpInfo',
  '*:com.dropbox.attributes',
  '*.ffs_lock',
  '*.ffs_tmp',
  // Transfers and downloads in progress.
  '*.filepart',
  '*.partial',
  '*_part',
  '*.uploading',
  '*.upload',
  '*.incomplete',
  '*.inprogress',
  '*.copying',
  '*.writing',
  '*.download',
  '*.opdownload',
  '*.lftp-pget-status',
  '*.gstmp',
  '*.aria2',
  '*.!ut',
  '*.!qB',
  '*.bc!',
  // Locks and temporary files of office programs and editors.
  '.~lock.*#',
  '*.temp',
  '*.swo',
  '*.swx',
  '*.crswap',
  '*~',
  '#*#',
  '4913',
  '*.laccdb',
  '(A Document Being Saved By *',
];
const WHOLE = new Set(SYSTEM_FILES.filter((name) => !name.includes('*')).map(folded));
const PATTERNS = SYSTEM_FILES.filter((name) => name.includes('*')).map(patternOf);

/**
 * True for a name that ends with one of the extensions (`.tmp`, case-insensitive), starts with one of the prefixes
 * (`~$`, case-sensitive) or is one of `SYSTEM_FILES`.
 */
export function createIgnoredNames({
  ignoredExtensions,
  ignoredPrefixes,
}: Pick<WatchedFolderSettings, 'ignoredExtensions' | 'ignoredPrefixes'>): (fileName: string) => boolean {
  const endings = ignoredExtensions
    .filter((extension) => extension !== '' && extension !== '.')
    .map((extension) => (extension.startsWith('.') ? extension : `.${extension}`).toLowerCase());
  const starts = ignoredPrefixes.filter((prefix) => prefix !== '');
  return (fileName) => {
    // First, because it needs no folding: hidden names of uploads.
    if (starts.some((start) => fileName.startsWith(start))) return true;
    const name = folded(fileName);
    return (
      endings.some((ending) => name.endsWith(ending)) ||
      WHOLE.has(name) ||
      PATTERNS.some((pattern) => matches(name, pattern))
    );
  };
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Parts before, between and after the stars of a name with stars. */
function patternOf(text: string) {
  const [first = '', ...others] = folded(text).split('*');
  return { first, last: others.pop() ?? '', others };
}

function matches(name: string, { first, last, others }: ReturnType<typeof patternOf>): boolean {
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length >= at + last.length && name.endsWith(last);
}
