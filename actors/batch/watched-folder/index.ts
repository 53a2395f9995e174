/** Watches one input folder and offers each complete file once. */
export type {
  Candidate,
  Look,
  OfferResult,
  WatchedFolder,
  WatchedFolderOptions,
  WatchedFolderSettings,
  WatchedFolderState,
} from './contract.ts';
export { createIgnoredNames } from './ignored-names.ts';
export { isDoubtful, nameIn, walk } from './listing.ts';
export {
  type BucketSource,
  createBucketFiles,
  createWatchedBucket,
  listedObjects,
} from './watched-bucket.ts';
export { createWatchedFolder } from './watched-folder.ts';
