/** The public names of the actors: what `service/` and `commands/` put together. `api.ts` is what HTTP may call. */
export { createAuthorityTransport } from './adapters/authority-transport.ts';
export { createRemotePortal } from './adapters/remote-portal/index.ts';
export type { Batch, BatchOptions, BatchParts } from './batch.ts';
export { ACTOR_FAULTS } from './faults.ts';
export type { FolderOptions } from './folders.ts';
export { exportJobs } from './job-export.ts';
export { createMailFolder } from './portal/adapters/mail-folder.ts';
export { createSmtpMailer } from './portal/adapters/smtp.ts';
export { administrationOf } from './portal/administration-offline.ts';
export type { Mailer } from './portal/mail-port.ts';
export type { PortalOptions } from './portal/portal.ts';
export { FIRST_APPLICATION, FIRST_MONITOR, FIRST_ORGANIZATION } from './portal/tenants-bootstrap.ts';
export type {
  LocalProfile,
  Profile,
  RemoteProfile,
  SigningChoices,
  TimestampSettings,
} from './profiles.ts';
export { Services, type ServicesOptions } from './services.ts';
export { makeStorageFolders } from './storage-folders.ts';
export { type StorageLayout, storageLayout } from './storage-layout.ts';
export type { TrustOptions } from './trust.ts';
