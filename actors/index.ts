/** The public names of the actors: what the root files put together. `api.ts` is what HTTP may call. */
export { Batch, type BatchOptions, type BatchParts } from './batch.ts';
export { ACTOR_FAULTS } from './faults.ts';
export type { FolderOptions } from './folders.ts';
export { type Profile, Profiles } from './profiles.ts';
export { makeStorageFolders } from './storage-folders.ts';
export { type StorageLayout, storageLayout } from './storage-layout.ts';
