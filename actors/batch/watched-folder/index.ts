/** Watches one input folder and offers each complete file once. */
export type {
  Candidate,
  OfferResult,
  WatchedFolder,
  WatchedFolderSettings,
  WatchedFolderState,
} from './contract.ts';
export { nameIn, walk } from './sweep.ts';
export { createIgnoredNames, createWatchedFolder } from './watched-folder.ts';
