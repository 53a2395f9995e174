/** Watches one input folder and offers each complete file once. */
export type {
  Candidate,
  OfferAnswer,
  WatchedFolder,
  WatchedFolderOptions,
  WatchedFolderSettings,
  WatchedFolderState,
} from './contract.ts';
export { createIgnoredNames } from './names.ts';
export { nameIn, walk } from './walk.ts';
export { createWatchedFolder } from './watched-folder.ts';
