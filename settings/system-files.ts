/** Names of files and directories that systems, file servers and programs put into shared folders. */

/** Default of `WatchedFolder:IgnoredNames`, beside the defaults of extensions and prefixes. */
export const SYSTEM_FILES: readonly string[] = [
  // Windows and macOS.
  ...['Thumbs.db', 'ehthumbs.db', 'ehthumbs_vista.db', 'desktop.ini', '$RECYCLE.BIN', 'RECYCLER'],
  ...['System Volume Information', '.DS_Store', '._*', '.Trash*', '.Spotlight-V100', '.fseventsd'],
  ...['__MACOSX', 'Network Trash Folder', 'Temporary Items'],
  // File servers: recycle bins, snapshots, previews, and files that were removed while they were open.
  ...['@eaDir', '#recycle', '#snapshot', '@Recycle', '@Recently-Snapshot', '@tmp', '.@__thumb', '~snapshot'],
  ...['lost+found', '.nfs*', '.smbdelete*', '.fuse_hidden*'],
  // Transfers and downloads in progress.
  ...['*.filepart', '*.partial', '*.download', '*.opdownload', '*.aria2', '*.!ut'],
  // Locks and temporary files of office programs and editors.
  ...['.~lock.*#', '*.temp', '*.swo', '*~'],
];
