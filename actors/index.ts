/** Public interface of the actors for `service/`, `commands/` and `http/`, which also uses `portal/api.ts`. */

export type { ValidationReport } from '@sealwright/signatures';
export { createHttpClient } from '@sealwright/signatures/http';
export type { FileAccessKey, StoredAccessKey } from './batch/access/access-keys.ts';
export type { Batch } from './batch/batch.ts';
export type { BatchOptions } from './batch/batch-options.ts';
export type { FolderOptions } from './batch/folders/folders.ts';
export { licenseCheck } from './batch/health-probes.ts';
export type { UploadKey } from './batch/job-records/upload-idempotency.ts';
export type { BulkQuery } from './batch/jobs/bulk-jobs.ts';
export type { JobFilter } from './batch/jobs/job-columns.ts';
export { exportJobs } from './batch/jobs/job-list.ts';
export type { BatchObserver, Stage } from './batch/observer.ts';
export type { OperationRequest } from './batch/operations.ts';
export type { HealthCheck } from './batch/pipeline/health.ts';
export { createRemotePortal } from './batch/remote/remote-portal.ts';
export { createHistory, type History } from './history/history.ts';
export { administrationOf } from './portal/accounts/administration.ts';
export { createMailFolder } from './portal/mails/mail-folder.ts';
export type { Mailer } from './portal/mails/mail-port.ts';
export { createSmtpMailer, verifyRelay } from './portal/mails/smtp.ts';
export type { PortalOptions } from './portal/portal-options.ts';
export { FIRST_APPLICATION, FIRST_MONITOR, FIRST_ORGANIZATION } from './portal/tenants-bootstrap.ts';
export { SAMPLE_MARK, sampleContract } from './portal/uploads/sample-contract.ts';
export { Services } from './services.ts';
export { ACTOR_KINDS, RESTING_STATES, rowsOfActor } from './shard-module.ts';
export { ACTOR_FAULTS } from './shared/failures/batch-fault-points.ts';
export { createStorageFolders, removeFormerTables } from './shared/files/storage-folders.ts';
export { type StorageLayout, storageLayout } from './shared/files/storage-layout.ts';
export { isAtService, KEY_REFUSALS, type ServiceSigner } from './shared/key-services/key-service.ts';
export { checkServiceSigner, openServiceSigner } from './shared/key-services/service-signer.ts';
export { InputBuckets } from './shared/objects/input-buckets.ts';
export type { ObjectStore } from './shared/objects/object-store.ts';
export { openS3 } from './shared/objects/s3-objects.ts';
export { createAuthorityTransport } from './shared/signing/authority-transport.ts';
export { evidenceOver } from './shared/signing/certificate-checks.ts';
export {
  type AppearanceChoice,
  type CertificateProblem,
  canSign,
  certificateProblem,
  type LocalProfile,
  type Profile,
  type RemoteProfile,
  type SigningChoices,
} from './shared/signing/profiles.ts';
export { NO_TRUST, type TrustOptions } from './shared/signing/trust-options.ts';
export { ListKeeper, listsCheck } from './shared/trust-lists/list-keeper.ts';
export type { ListOptions } from './shared/trust-lists/list-options.ts';
