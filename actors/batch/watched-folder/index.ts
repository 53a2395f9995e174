/** Watches one input folder and offers each complete file once. */
export type {
  Candidate,
  OfferResult,
  WatchedFolder,
  WatchedFolderSettings,
  WatchedFolderState,
} from './contract.ts';
export { createIgnoredNames } from './file-patterns.ts';
export { nameIn, walk } from './sweep.ts';
export { createWatchedFolder } from './watched-folder.ts';
