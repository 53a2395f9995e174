/** Types of the batch API. Written by scripts/write-client.mjs; do not edit. */

export type AccessKey = { readonly "name": string; readonly "scopes": readonly ("read" | "submit" | "operate" | "administer")[]; readonly "profiles": readonly (string)[] | null; readonly "folders": readonly (string)[] | null; readonly "expiresAt": string | null; readonly "rateLimit": { readonly "permits": number; readonly "windowSeconds": number } | null; readonly "createdAt": string; readonly "createdBy": string; readonly "lastUsedAt": string | null; readonly "secrets": readonly ({ readonly "createdAt": string; readonly "expiresAt": string | null })[] };
export type AccessKeyWithSecret = { readonly "key": AccessKey; readonly "secret": string };
export type AccessKeys = { readonly "items": readonly (AccessKey)[] };
export type Actor = { readonly "kind": string; readonly "id": string; readonly "state": string; readonly "revision": number; readonly "mailbox": number; readonly "stopped": { readonly "at": string; readonly "error": string } | null; readonly "trouble": { readonly "key": string; readonly "do": string; readonly "dueAt": string; readonly "failures": number; readonly "lastError": string | null } | null; readonly "since"?: string | null; readonly "version": number; readonly "context": { readonly [name: string]: unknown }; readonly "accepts": readonly (string)[]; readonly "timers": readonly ({ readonly "name": string; readonly "due": string })[]; readonly "effects": readonly ({ readonly "key": string; readonly "do": string; readonly "dueAt": string; readonly "failures": number; readonly "lastError": string | null; readonly "effect": { readonly [name: string]: unknown } })[]; readonly "history": readonly ({ readonly "id": number; readonly "at": string; readonly "state": string; readonly "message": string; readonly "cause": string; readonly "hash"?: string })[]; readonly "parent": { readonly "kind": string; readonly "id": string } | null; readonly "children": readonly ({ readonly "kind": string; readonly "id": string })[]; readonly "shard": number };
export type ActorChart = { readonly "kind": string; readonly "version": number; readonly "initial": string; readonly "states": readonly ({ readonly "name": string; readonly "final": boolean })[]; readonly "transitions": readonly ({ readonly "from": string; readonly "to": string; readonly "event": string })[] };
export type ActorKind = { readonly "kind": string; readonly "version": number; readonly "count": number; readonly "states": { readonly [name: string]: number }; readonly "stopped": number; readonly "awake": number; readonly "deepestMailbox": number; readonly "accepted": number; readonly "refused": number; readonly "restarts": number; readonly "perSecond": number; readonly "lastError": { readonly "actor": string; readonly "message": string } | null };
export type ActorPage = { readonly "kinds"?: readonly (ActorKind)[]; readonly "items"?: readonly ({ readonly "kind": string; readonly "id": string; readonly "state": string; readonly "revision": number; readonly "mailbox": number; readonly "stopped": { readonly "at": string; readonly "error": string } | null; readonly "trouble": { readonly "key": string; readonly "do": string; readonly "dueAt": string; readonly "failures": number; readonly "lastError": string | null } | null; readonly "since"?: string | null })[]; readonly "next"?: string | null; readonly "complete"?: boolean; readonly "examined"?: number };
export type ActorRestart = { readonly "kind": string; readonly "id": string; readonly "restarted": true };
export type BulkCancellation = { readonly "matched": number; readonly "canceled": number; readonly "skipped": number; readonly "items": readonly ({ readonly "jobId": string; readonly "code": "job.not-found" | "job.not-queued" | "job.race-lost" | "job.not-failed" | "job.input-missing" | "job.output-unavailable" | "job.output-gone" | "job.already-processing" | "job.path-too-long" | "job.input-not-removed" | "job.input-diverged" | "upload.empty" | "upload.too-large" | "upload.invalid-name" | "upload.too-many-files" | "upload.format-unsupported" | "validation.reason-too-long" | "validation.filter-invalid" | "validation.body-invalid" | "validation.encoding-unsupported" | "auth.misconfigured" | "auth.invalid-credentials" | "auth.cross-origin" | "auth.forbidden" | "key.not-found" | "key.exists" | "key.limit-reached" | "host.not-allowed" | "folder.not-found" | "profile.not-found" | "remote.document-rejected" | "remote.timeout" | "remote.unreachable" | "range.not-satisfiable" | "actor.not-found" | "node.not-found" | "actor.not-stopped" | "mail.not-found" | "mail.text-unavailable" | "mail.already-sent" | "operation.not-found" | "operation.not-running" | "operation.limit-reached" | "webhook.delivery-not-found" | "rate-limited" | "route.not-found" | "route.method-not-allowed" | "service.busy" | "idempotency.mismatch" | "storage.full" | "internal" | null })[] };
export type BulkCancellationRequest = { readonly "profile"?: string | null; readonly "errorCode"?: string | null; readonly "since"?: string | null; readonly "limit"?: number; readonly "countOnly"?: boolean; readonly "status"?: (("Queued" | "AwaitingSigner") | (readonly ("Queued" | "AwaitingSigner")[])) | (null); readonly "reason"?: string | null };
export type BulkRetry = { readonly "matched": number; readonly "created": number; readonly "skipped": number; readonly "items": readonly ({ readonly "jobId": string; readonly "newJobId": string | null; readonly "code": "job.not-found" | "job.not-queued" | "job.race-lost" | "job.not-failed" | "job.input-missing" | "job.output-unavailable" | "job.output-gone" | "job.already-processing" | "job.path-too-long" | "job.input-not-removed" | "job.input-diverged" | "upload.empty" | "upload.too-large" | "upload.invalid-name" | "upload.too-many-files" | "upload.format-unsupported" | "validation.reason-too-long" | "validation.filter-invalid" | "validation.body-invalid" | "validation.encoding-unsupported" | "auth.misconfigured" | "auth.invalid-credentials" | "auth.cross-origin" | "auth.forbidden" | "key.not-found" | "key.exists" | "key.limit-reached" | "host.not-allowed" | "folder.not-found" | "profile.not-found" | "remote.document-rejected" | "remote.timeout" | "remote.unreachable" | "range.not-satisfiable" | "actor.not-found" | "node.not-found" | "actor.not-stopped" | "mail.not-found" | "mail.text-unavailable" | "mail.already-sent" | "operation.not-found" | "operation.not-running" | "operation.limit-reached" | "webhook.delivery-not-found" | "rate-limited" | "route.not-found" | "route.method-not-allowed" | "service.busy" | "idempotency.mismatch" | "storage.full" | "internal" | null })[] };
export type BulkRetryRequest = { readonly "profile"?: string | null; readonly "errorCode"?: string | null; readonly "since"?: string | null; readonly "limit"?: number; readonly "countOnly"?: boolean; readonly "status"?: "Failed" | null };
export type Cancellation = { readonly "jobId": string; readonly "status": "Canceled" };
export type Changes = { readonly "version": string };
export type Cleanup = { readonly "deleted": number; readonly "message": string };
export type Clearing = { readonly "deleted": number; readonly "skipped": number; readonly "message": string };
export type EventList = { readonly "items": readonly ({ readonly "id": string; readonly "timestamp": string; readonly "kind": "PipelinePaused" | "PipelineResumed" | "RescanCompleted" | "JobsCleared" | "WatcherStopped" | "InputDiverged" | "JobFailed" | "RecoverySwept" | "ActorRestarted" | "LoggedIn" | "LoggedOut" | "NodeDraining" | "OperationEnded" | "WebhookFailed" | "InputNotRemoved" | "RemoteCancelFailed" | "KeyChanged"; readonly "actor": string; readonly "jobId": string | null; readonly "code": string | null; readonly "message": string })[]; readonly "page": number; readonly "pageSize": number; readonly "totalCount": number };
export type Failures = { readonly "groups": readonly ({ readonly "errorCode": string; readonly "remedy": string | null; readonly "count": number; readonly "oldestAt": string; readonly "newestAt": string; readonly "example": { readonly "id": string; readonly "fileName": string; readonly "message": string | null } })[]; readonly "examined": number; readonly "complete": boolean };
export type Folders = { readonly "folders": readonly ({ readonly "name": string; readonly "path": string; readonly "exists": boolean; readonly "status": "Initializing" | "Running" | "Stopped"; readonly "lastEnqueueAt": string | null; readonly "lastError": string | null; readonly "processedCount": number; readonly "fileCount": number; readonly "fileCountCapped": boolean; readonly "profile": string })[] };
export type Health = { readonly "status": "Healthy" };
export type Identity = { readonly "operator": string; readonly "scheme": "ApiKey" | "Cookie" | "Bearer"; readonly "role"?: "viewer" | "operator" | "administrator"; readonly "scopes"?: readonly ("read" | "submit" | "operate" | "administer")[]; readonly "profiles"?: readonly (string)[]; readonly "folders"?: readonly (string)[]; readonly "expiresAt"?: string };
export type Job = { readonly "id": string; readonly "fileName": string; readonly "originalPath": string; readonly "format": "Pades" | "Cades" | "Xades"; readonly "source": "Watcher" | "Upload" | "Retry"; readonly "status": "Queued" | "Processing" | "Verifying" | "AwaitingSigner" | "Completed" | "Failed" | "Canceled"; readonly "createdAt": string; readonly "updatedAt": string; readonly "parentJobId": string | null; readonly "errorMessage": string | null; readonly "errorCode": string | null; readonly "profileName": string; readonly "folder": string | null; readonly "outputEncrypted": boolean; readonly "sizeBytes": number | null };
export type JobList = { readonly "items": readonly (Job)[]; readonly "page": number; readonly "pageSize": number; readonly "totalCount": number };
export type JobWithHistory = { readonly "id": string; readonly "fileName": string; readonly "originalPath": string; readonly "format": "Pades" | "Cades" | "Xades"; readonly "source": "Watcher" | "Upload" | "Retry"; readonly "status": "Queued" | "Processing" | "Verifying" | "AwaitingSigner" | "Completed" | "Failed" | "Canceled"; readonly "createdAt": string; readonly "updatedAt": string; readonly "parentJobId": string | null; readonly "errorMessage": string | null; readonly "errorCode": string | null; readonly "profileName": string; readonly "folder": string | null; readonly "outputEncrypted": boolean; readonly "sizeBytes": number | null; readonly "remoteDocumentId": string | null; readonly "awaitingSignerSince": string | null; readonly "queuedAt": string; readonly "inputSha256": string | null; readonly "outputSha256": string | null; readonly "outputFileName": string | null; readonly "warnings": readonly ({ readonly "code": "pdf.hidden-look" | "pdf.look-differs" | "pdf.script" | "pdf.xfa" | "pdf.layer" | "pdf.elsewhere" | "pdf.usage-rights" | "pdf.pages" | "pdf.repair" | "pdf.not-examined" | "pdf.no-glyph"; readonly "object": string; readonly "message": string })[]; readonly "history": readonly ({ readonly "id": number; readonly "timestamp": string; readonly "status": "Queued" | "Processing" | "Verifying" | "AwaitingSigner" | "Completed" | "Failed" | "Canceled"; readonly "message": string; readonly "actor"?: string })[] };
export type KeyRotation = { readonly "overlapHours"?: number };
export type MailInMailbox = { readonly "id": string; readonly "organizationId": string; readonly "about": string; readonly "to": string; readonly "documentId": string | null; readonly "status": "Queued" | "Waiting" | "Sent" | "Failed"; readonly "tries": number; readonly "createdAt": string; readonly "endedAt": string | null; readonly "nextTryAt": string | null; readonly "reply": string | null; readonly "lastError": { readonly "code": string; readonly "message": string } | null; readonly "hasText": boolean; readonly "textRemoved": boolean; readonly "subject": string | null };
export type MailList = { readonly "items": readonly (MailInMailbox)[]; readonly "page": number; readonly "pageSize": number; readonly "totalCount": number };
export type MailWithTries = { readonly "id": string; readonly "organizationId": string; readonly "about": string; readonly "to": string; readonly "documentId": string | null; readonly "status": "Queued" | "Waiting" | "Sent" | "Failed"; readonly "tries": number; readonly "createdAt": string; readonly "endedAt": string | null; readonly "nextTryAt": string | null; readonly "reply": string | null; readonly "lastError": { readonly "code": string; readonly "message": string } | null; readonly "hasText": boolean; readonly "textRemoved": boolean; readonly "failures": readonly ({ readonly "at": string; readonly "code": string; readonly "message": string })[] };
export type MailsResendRequest = { readonly "since"?: string | null };
export type MailsResent = { readonly "count": number; readonly "complete": boolean };
export type NewAccessKey = { readonly "name": string; readonly "scopes": readonly ("read" | "submit" | "operate" | "administer")[]; readonly "profiles"?: readonly (string)[] | null; readonly "folders"?: readonly (string)[] | null; readonly "expiresAt"?: string | null; readonly "rateLimit"?: { readonly "permits": number; readonly "windowSeconds": number } | null };
export type NewOperation = { readonly "action": "retry" | "cancel" | "clear"; readonly "filter"?: { readonly "status"?: (("Queued" | "Processing" | "Verifying" | "AwaitingSigner" | "Completed" | "Failed" | "Canceled") | (readonly ("Queued" | "Processing" | "Verifying" | "AwaitingSigner" | "Completed" | "Failed" | "Canceled")[])) | (null); readonly "profile"?: string | null; readonly "format"?: (("Pades" | "Cades" | "Xades") | (readonly ("Pades" | "Cades" | "Xades")[])) | (null); readonly "source"?: (("Watcher" | "Upload" | "Retry") | (readonly ("Watcher" | "Upload" | "Retry")[])) | (null); readonly "folder"?: string | null; readonly "fileName"?: string | null; readonly "errorCode"?: string | null; readonly "parentJobId"?: string | null; readonly "createdFrom"?: string | null; readonly "createdTo"?: string | null }; readonly "reason"?: string | null; readonly "dryRun"?: boolean };
export type Node = { readonly "name": string; readonly "version": string; readonly "isThis": boolean; readonly "startedAt": string; readonly "silentMs": number; readonly "leaseMs": number; readonly "session": number; readonly "draining": boolean; readonly "leases": readonly (string)[]; readonly "effectsInFlight": number; readonly "lagMs": number; readonly "storeMs": number };
export type NodeDraining = { readonly "name": string; readonly "draining": true };
export type Operation = { readonly "id": string; readonly "action": "retry" | "cancel" | "clear"; readonly "state": "Running" | "Canceling" | "Completed" | "Canceled"; readonly "filter": { readonly "status": readonly ("Queued" | "Processing" | "Verifying" | "AwaitingSigner" | "Completed" | "Failed" | "Canceled")[]; readonly "profile": string | null; readonly "format": readonly ("Pades" | "Cades" | "Xades")[]; readonly "source": readonly ("Watcher" | "Upload" | "Retry")[]; readonly "folder": string | null; readonly "fileName": string | null; readonly "errorCode": string | null; readonly "parentJobId": string | null; readonly "createdFrom": string | null; readonly "createdTo": string }; readonly "reason": string | null; readonly "matched": number; readonly "done": number; readonly "skipped": number; readonly "skippedByCode": { readonly [name: string]: number }; readonly "createdAt": string; readonly "updatedAt": string; readonly "endedAt": string | null };
export type OperationCount = { readonly "matched": number };
export type OperationList = { readonly "items": readonly (Operation)[]; readonly "page": number; readonly "pageSize": number; readonly "totalCount": number };
export type PipelineState = { readonly "paused": boolean; readonly "pausedAtUtc": string | null; readonly "resumedAtUtc": string | null; readonly "pausedBy": "system" | "operator"; readonly "reason": string | null; readonly "held": { readonly "reason": string; readonly "since": string } | null; readonly "maxConcurrency": number; readonly "jobsInFlight": number; readonly "jobsInFlightByFormat": { readonly "pades": number; readonly "cades": number; readonly "xades": number; readonly "total": number } };
export type PortalActivity = { readonly "since": string; readonly "intervalSeconds": number; readonly "documents": { readonly "created": readonly (number)[]; readonly "concluded": readonly (number)[]; readonly "refused": readonly (number)[] }; readonly "webhooks": { readonly "delivered": readonly (number)[]; readonly "failed": readonly (number)[] }; readonly "mails": { readonly "sent": readonly (number)[]; readonly "failed": readonly (number)[] }; readonly "complete": boolean; readonly "incomplete": readonly ("documents" | "webhooks" | "mails")[] };
export type PortalKeys = { readonly "items": readonly ({ readonly "id": string; readonly "organization": string; readonly "application": string; readonly "role": string; readonly "limited": boolean; readonly "createdAt": string; readonly "lastUsedAt": string | null; readonly "expiresAt": string | null; readonly "expiry": "never" | "later" | "soon" | "over" })[]; readonly "complete": boolean };
export type PortalWebhookDeliveryList = { readonly "items": readonly ({ readonly "id": string; readonly "webhookId": string; readonly "documentId": string | null; readonly "type": string; readonly "sequence": number; readonly "status": "Pending" | "Delivered" | "Failed"; readonly "createdAt": string; readonly "nextAttemptAt": string | null; readonly "attempts": readonly ({ readonly "at": string; readonly "url": string; readonly "status": number | null; readonly "milliseconds": number; readonly "error": string | null; readonly "response": string | null })[] })[]; readonly "page": number; readonly "pageSize": number; readonly "totalCount": number };
export type PortalWebhookOrganizations = { readonly "items": readonly ({ readonly "id": string; readonly "name": string; readonly "pending": number; readonly "delivered": number; readonly "failed": number })[] };
export type Problem = { readonly "type": string; readonly "title": string; readonly "status": number; readonly "code": string; readonly "traceId": string; readonly "requestId": string; readonly "errors"?: { readonly [name: string]: readonly (string)[] }; readonly "detail"?: string; readonly "instance"?: string; readonly "exception"?: string };
export type Profiles = { readonly "profiles": readonly ({ readonly "name": string; readonly "format": "Pades" | "Cades" | "Xades" | null; readonly "method": "Local" | "RemoteSigner"; readonly "verify": boolean; readonly "encrypt": boolean; readonly "validateCertificate": boolean; readonly "certificate": { readonly "source": string; readonly "subject": string; readonly "thumbprint": string; readonly "notAfter": string } | null; readonly "default": boolean })[] };
export type Qualification = { readonly "word": "QESig" | "QESeal" | "AdESig-QC" | "AdESeal-QC" | "AdESig" | "AdESeal" | "AdES" | "Unknown" | "NotAdES"; readonly "isIndeterminate": boolean; readonly "qualifiedFor": "signature" | "seal" | "web" | "none" | "undetermined"; readonly "device": "yes" | "no" | "undetermined"; readonly "territory": string | null; readonly "service": string | null; readonly "provider": string | null; readonly "list": { readonly "sequence": number; readonly "issued": string } | null; readonly "reasons": readonly (string)[] };
export type Readiness = { readonly "status": "Ready" | "NotReady"; readonly "checkedAtUtc": string; readonly "checks": readonly ({ readonly "name": string; readonly "status": "Healthy" | "Degraded" | "Unhealthy"; readonly "detail": string | null })[] };
export type Reason = { readonly "reason"?: string | null };
export type ReportedCertificate = { readonly "subjectName": string; readonly "issuerName": string; readonly "emailAddress": string | null; readonly "identifier": string | null; readonly "companyName": string | null; readonly "companyIdentifier": string | null; readonly "thumbprint": string; readonly "validityStart": string; readonly "validityEnd": string };
export type ReportedSignature = { readonly "indication": "TOTAL-PASSED" | "INDETERMINATE" | "TOTAL-FAILED"; readonly "subIndication": string | null; readonly "format": "Pades" | "Cades" | "Xades"; readonly "level": "B" | "T" | "LT" | "LTA" | null; readonly "name": string; readonly "isTimestamp": boolean; readonly "isInContent": boolean; readonly "certificate": (ReportedCertificate) | (null); readonly "signingTime": string | null; readonly "bestTime": string; readonly "scope": { readonly "kind": "document" | "revision" | "element" | "content" | "container" | "signature"; readonly "description": string }; readonly "timestamps": readonly (ReportedTimestamp)[]; readonly "changes": readonly ({ readonly "revision": number; readonly "permitted": boolean; readonly "description": string })[]; readonly "policy": string | null; readonly "claimedRoles": readonly (string)[]; readonly "reason": string | null; readonly "location": string | null; readonly "qualification": (Qualification) | (null); readonly "contentIdentifier": string | null; readonly "results": ValidationChecks; readonly "counterSignatures": readonly (ReportedSignature)[] };
export type ReportedTimestamp = { readonly "indication": "TOTAL-PASSED" | "INDETERMINATE" | "TOTAL-FAILED"; readonly "subIndication": string | null; readonly "kind": "content" | "signature" | "archive" | "document"; readonly "displayName": string; readonly "genTime": string | null; readonly "certificate": (ReportedCertificate) | (null); readonly "qualification": (TimestampQualification) | (null); readonly "results": ValidationChecks };
export type Rescan = { readonly "folders": readonly ({ readonly "name": string; readonly "path": string; readonly "scanned": number; readonly "enqueued": number; readonly "alreadyActive": number; readonly "ignored": number; readonly "errors": number; readonly "enqueuedFiles": readonly (string)[] })[]; readonly "totals": { readonly "folders": number; readonly "scanned": number; readonly "enqueued": number; readonly "alreadyActive": number; readonly "ignored": number; readonly "errors": number } };
export type Resent = { readonly "id": string };
export type Retry = { readonly "newJobId": string; readonly "parentJobId": string; readonly "status": "Queued" };
export type RevokedKey = { readonly "name": string; readonly "revoked": true };
export type Runtime = { readonly "nodes": readonly (Node)[]; readonly "eventLoopDelay": { readonly "p50Ms": number; readonly "p99Ms": number; readonly "maxMs": number }; readonly "effectsInFlight": number; readonly "shards": readonly ({ readonly "shard": number; readonly "thread": string | null; readonly "losses": number; readonly "lastLoss": { readonly "at": string; readonly "why": string; readonly "actor": string | null } | null; readonly "awakeActors": number; readonly "deepestMailbox": number; readonly "commit": { readonly "p50Ms": number; readonly "p99Ms": number; readonly "maxMs": number }; readonly "eventLoopDelay": { readonly "p50Ms": number; readonly "p99Ms": number; readonly "maxMs": number }; readonly "utilisation": number })[]; readonly "pool": { readonly "threads": number; readonly "busy": number; readonly "waiting": number; readonly "utilisation": number; readonly "stalled": readonly ({ readonly "task": string; readonly "subject": string; readonly "state": "computing" | "waiting"; readonly "runningMs": number; readonly "deadlineMs": number })[] }; readonly "store": { readonly "engine": string; readonly "bytes": number | null }; readonly "memory": { readonly "residentBytes": number; readonly "heapBytes": number }; readonly "uptimeSeconds": number; readonly "eventLoopUtilisation": number };
export type Statistics = { readonly "since": string; readonly "completed": number; readonly "failed": number; readonly "canceled": number; readonly "encrypted": number; readonly "perStage": { readonly "queueWait": { readonly "count": number; readonly "avgMs": number | null; readonly "p50Ms": number | null; readonly "p95Ms": number | null; readonly "maxMs": number | null }; readonly "sign": { readonly "count": number; readonly "avgMs": number | null; readonly "p50Ms": number | null; readonly "p95Ms": number | null; readonly "maxMs": number | null }; readonly "verify": { readonly "count": number; readonly "avgMs": number | null; readonly "p50Ms": number | null; readonly "p95Ms": number | null; readonly "maxMs": number | null }; readonly "output": { readonly "count": number; readonly "avgMs": number | null; readonly "p50Ms": number | null; readonly "p95Ms": number | null; readonly "maxMs": number | null } }; readonly "perMethod": { readonly "Local": number; readonly "RemoteSigner": number }; readonly "throughputPerMinute": number; readonly "lifetimePerMinute": number };
export type StatisticsSeries = { readonly "since": string; readonly "intervalSeconds": number; readonly "completed": readonly (number)[]; readonly "failed": readonly (number)[]; readonly "canceled": readonly (number)[]; readonly "queueWaitMs": readonly (number | null)[]; readonly "signMs": readonly (number | null)[]; readonly "oldestQueuedAt": string | null };
export type TimestampQualification = { readonly "word": "QTSA" | "TSA" | "Unknown" | "NotTimestamp"; readonly "isIndeterminate": boolean; readonly "list": { readonly "sequence": number; readonly "issued": string } | null; readonly "reasons": readonly (string)[] };
export type UploadAccepted = { readonly "jobId": string; readonly "fileName": string; readonly "originalPath": string; readonly "format": "Pades" | "Cades" | "Xades"; readonly "status": "Queued" };
export type Validation = { readonly "fileName": string; readonly "indication": "TOTAL-PASSED" | "INDETERMINATE" | "TOTAL-FAILED"; readonly "format": "Pades" | "Cades" | "Xades" | "Asic"; readonly "signatures": readonly (ReportedSignature)[]; readonly "results": ValidationChecks };
export type ValidationCheck = { readonly "type": string; readonly "message": string; readonly "detail": string | null; readonly "inner": (ValidationChecks) | (null) };
export type ValidationChecks = { readonly "isValid": boolean; readonly "passedChecks": readonly (ValidationCheck)[]; readonly "errors": readonly (ValidationCheck)[]; readonly "warnings": readonly (ValidationCheck)[] };
export type WebhookDelivery = { readonly "id": string; readonly "url": string | null; readonly "jobId": string; readonly "type": string; readonly "status": "Pending" | "Delivered" | "Failed"; readonly "createdAt": string; readonly "nextAttemptAt": string | null; readonly "body": string; readonly "attempts": readonly ({ readonly "at": string; readonly "url": string; readonly "status": number | null; readonly "milliseconds": number; readonly "error": string | null; readonly "response": string | null })[] };
export type WebhookDeliveryList = { readonly "items": readonly (WebhookDelivery)[]; readonly "page": number; readonly "pageSize": number; readonly "totalCount": number };
export type WebhookReplay = { readonly "count": number; readonly "complete": boolean };
export type WebhookReplayRequest = { readonly "from"?: string | null; readonly "to"?: string | null; readonly "failedOnly"?: boolean };

export interface BatchOperations {
  /** Begins a session for the API key, or for a login link, and goes to a page. */
  readonly "POST /api/auth/login": {
    readonly params: {  };
    readonly query: {  };
    readonly body: FormData;
    readonly answer: undefined;
    readonly code: "auth.cross-origin" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported";
  };
  /** Ends the session, makes the browser forget it and goes to the login page. */
  readonly "POST /api/auth/logout": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "auth.cross-origin" | "host.not-allowed" | "internal" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Metrics in the text format of Prometheus. */
  readonly "GET /api/metrics": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid";
  };
  /** Takes one file and queues it for signing. */
  readonly "POST /api/files": {
    readonly params: {  };
    readonly query: { readonly "wait"?: number; readonly "format"?: "Pades" | "Cades" | "Xades"; readonly "profile"?: string; readonly "operation"?: "Sign" | "Extend" };
    readonly body: FormData;
    readonly answer: JobWithHistory | UploadAccepted;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "idempotency.mismatch" | "internal" | "job.already-processing" | "job.path-too-long" | "profile.not-found" | "rate-limited" | "service.busy" | "storage.full" | "upload.empty" | "upload.format-unsupported" | "upload.invalid-name" | "upload.too-large" | "upload.too-many-files" | "validation.body-invalid" | "validation.encoding-unsupported" | "validation.filter-invalid";
  };
  /** Validates the signatures of a file and answers with the report of ETSI TS 119 102-2. */
  readonly "POST /api/validate": {
    readonly params: {  };
    readonly query: {  };
    readonly body: FormData;
    readonly answer: Validation;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "job.path-too-long" | "rate-limited" | "service.busy" | "storage.full" | "upload.empty" | "upload.format-unsupported" | "upload.invalid-name" | "upload.too-large" | "upload.too-many-files" | "validation.body-invalid" | "validation.encoding-unsupported";
  };
  /** Lists jobs, newest first. */
  readonly "GET /api/jobs": {
    readonly params: {  };
    readonly query: { readonly "status"?: readonly ("Queued" | "Processing" | "Verifying" | "AwaitingSigner" | "Completed" | "Failed" | "Canceled")[]; readonly "profile"?: string; readonly "format"?: readonly ("Pades" | "Cades" | "Xades")[]; readonly "source"?: readonly ("Watcher" | "Upload" | "Retry")[]; readonly "folder"?: string; readonly "fileName"?: string; readonly "createdFrom"?: string; readonly "createdTo"?: string; readonly "parentJobId"?: string; readonly "page"?: number; readonly "pageSize"?: number; readonly "version"?: string };
    readonly body: undefined;
    readonly answer: JobList;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Forgets finished jobs with their history; their files stay. */
  readonly "DELETE /api/jobs": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Clearing;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Shows one job with its history. */
  readonly "GET /api/jobs/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: JobWithHistory;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "job.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid";
  };
  /** Sends the signed file, whole or one range of it. */
  readonly "GET /api/jobs/{id}/output": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "redirect"?: "true" | "false" };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "job.not-found" | "job.output-gone" | "job.output-unavailable" | "range.not-satisfiable" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Cancels a job that is queued or waits for its signer. */
  readonly "POST /api/jobs/{id}/cancel": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: Reason | undefined;
    readonly answer: Cancellation;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "job.not-found" | "job.not-queued" | "job.race-lost" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported" | "validation.reason-too-long";
  };
  /** Makes a new job of a failed one. */
  readonly "POST /api/jobs/{id}/retry": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Retry;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "job.already-processing" | "job.input-missing" | "job.not-failed" | "job.not-found" | "profile.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Retries failed jobs, oldest first, or counts them; a job whose retry exists is left to that. */
  readonly "POST /api/jobs/retry": {
    readonly params: {  };
    readonly query: {  };
    readonly body: BulkRetryRequest | undefined;
    readonly answer: BulkRetry;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported";
  };
  /** Cancels queued and waiting jobs, oldest first, or counts them. */
  readonly "POST /api/jobs/cancel": {
    readonly params: {  };
    readonly query: {  };
    readonly body: BulkCancellationRequest | undefined;
    readonly answer: BulkCancellation;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported" | "validation.reason-too-long";
  };
  /** Retries, cancels or clears every job that matches a filter, or counts them. */
  readonly "POST /api/operations": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewOperation;
    readonly answer: OperationCount | Operation;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "operation.limit-reached" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported" | "validation.reason-too-long";
  };
  /** Lists large operations, newest first. */
  readonly "GET /api/operations": {
    readonly params: {  };
    readonly query: { readonly "page"?: number; readonly "pageSize"?: number };
    readonly body: undefined;
    readonly answer: OperationList;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Shows one large operation and its progress. */
  readonly "GET /api/operations/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Operation;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "operation.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid";
  };
  /** Ends a large operation after the batch under way. */
  readonly "POST /api/operations/{id}/cancel": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Operation;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "operation.not-found" | "operation.not-running" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Lists calls of webhooks for the ends of jobs, newest first. */
  readonly "GET /api/webhooks/deliveries": {
    readonly params: {  };
    readonly query: { readonly "status"?: "Pending" | "Delivered" | "Failed"; readonly "page"?: number; readonly "pageSize"?: number; readonly "version"?: string };
    readonly body: undefined;
    readonly answer: WebhookDeliveryList;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Sends a delivery again. */
  readonly "POST /api/webhooks/deliveries/{id}/resend": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: WebhookDelivery;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid" | "webhook.delivery-not-found";
  };
  /** Sends deliveries of a range of time again. */
  readonly "POST /api/webhooks/replay": {
    readonly params: {  };
    readonly query: {  };
    readonly body: WebhookReplayRequest | undefined;
    readonly answer: WebhookReplay;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported";
  };
  /** Lists the portal's organizations with webhook deliveries, those with most failures first. */
  readonly "GET /api/webhooks/portal": {
    readonly params: {  };
    readonly query: { readonly "version"?: string };
    readonly body: undefined;
    readonly answer: PortalWebhookOrganizations;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Lists the webhook deliveries of an organization, newest first. */
  readonly "GET /api/webhooks/portal/{organizationId}/deliveries": {
    readonly params: { readonly "organizationId": string };
    readonly query: { readonly "status"?: "Pending" | "Delivered" | "Failed"; readonly "page"?: number; readonly "pageSize"?: number; readonly "version"?: string };
    readonly body: undefined;
    readonly answer: PortalWebhookDeliveryList;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid" | "webhook.delivery-not-found";
  };
  /** Sends a delivery of an organization again. */
  readonly "POST /api/webhooks/portal/{organizationId}/deliveries/{id}/resend": {
    readonly params: { readonly "organizationId": string; readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Resent;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid" | "webhook.delivery-not-found";
  };
  /** Lists the keys of the portal's applications, those that expire first at the beginning. */
  readonly "GET /api/portal/keys": {
    readonly params: {  };
    readonly query: { readonly "version"?: string };
    readonly body: undefined;
    readonly answer: PortalKeys;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Counts documents, webhook deliveries and e-mails of the portal in equal intervals up to now. */
  readonly "GET /api/portal/activity": {
    readonly params: {  };
    readonly query: { readonly "window"?: string; readonly "intervals"?: number; readonly "version"?: string };
    readonly body: undefined;
    readonly answer: PortalActivity;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Lists the named API keys by name, without secrets. */
  readonly "GET /api/keys": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: AccessKeys;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid";
  };
  /** Creates a named API key and shows its secret once. */
  readonly "POST /api/keys": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewAccessKey;
    readonly answer: AccessKeyWithSecret;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "key.exists" | "key.limit-reached" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported";
  };
  /** Gives a key a new secret, and shows it once. */
  readonly "POST /api/keys/{name}/rotate": {
    readonly params: { readonly "name": string };
    readonly query: {  };
    readonly body: KeyRotation | undefined;
    readonly answer: AccessKeyWithSecret;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "key.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported";
  };
  /** Revokes a key with all its secrets, at once. */
  readonly "POST /api/keys/{name}/revoke": {
    readonly params: { readonly "name": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: RevokedKey;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "key.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Lists the signing profiles an upload may name. */
  readonly "GET /api/profiles": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Profiles;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid";
  };
  /** Says how many jobs ended within a window up to now, and how long their stages took. */
  readonly "GET /api/statistics": {
    readonly params: {  };
    readonly query: { readonly "window"?: string; readonly "version"?: string };
    readonly body: undefined;
    readonly answer: Statistics;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Counts the jobs that ended in equal intervals of a window up to now, oldest first. */
  readonly "GET /api/statistics/series": {
    readonly params: {  };
    readonly query: { readonly "window"?: string; readonly "intervals"?: number; readonly "version"?: string };
    readonly body: undefined;
    readonly answer: StatisticsSeries;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Groups the failed jobs by error code, with what to do. */
  readonly "GET /api/failures": {
    readonly params: {  };
    readonly query: { readonly "version"?: string };
    readonly body: undefined;
    readonly answer: Failures;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Says whether the pipeline is paused and what is in flight. */
  readonly "GET /api/pipeline/state": {
    readonly params: {  };
    readonly query: { readonly "version"?: string };
    readonly body: undefined;
    readonly answer: PipelineState;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Claims no more jobs; those in flight finish. Lasts over restarts. */
  readonly "POST /api/pipeline/pause": {
    readonly params: {  };
    readonly query: {  };
    readonly body: Reason | undefined;
    readonly answer: PipelineState;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported" | "validation.reason-too-long";
  };
  /** Claims jobs again. */
  readonly "POST /api/pipeline/resume": {
    readonly params: {  };
    readonly query: {  };
    readonly body: Reason | undefined;
    readonly answer: PipelineState;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported" | "validation.reason-too-long";
  };
  /** Shows every input folder and its watcher. */
  readonly "GET /api/folders": {
    readonly params: {  };
    readonly query: { readonly "version"?: string };
    readonly body: undefined;
    readonly answer: Folders;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Queues every file of one or all input folders that no active job has. */
  readonly "POST /api/rescan": {
    readonly params: {  };
    readonly query: { readonly "folder"?: string };
    readonly body: undefined;
    readonly answer: Rescan;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "folder.not-found" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Removes finished jobs that are older than the configured age. */
  readonly "POST /api/cleanup": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Cleanup;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Lists system events, newest first. */
  readonly "GET /api/events": {
    readonly params: {  };
    readonly query: { readonly "kind"?: readonly ("PipelinePaused" | "PipelineResumed" | "RescanCompleted" | "JobsCleared" | "WatcherStopped" | "InputDiverged" | "JobFailed" | "RecoverySwept" | "ActorRestarted" | "LoggedIn" | "LoggedOut" | "NodeDraining" | "OperationEnded" | "WebhookFailed" | "InputNotRemoved" | "RemoteCancelFailed" | "KeyChanged")[]; readonly "page"?: number; readonly "pageSize"?: number };
    readonly body: undefined;
    readonly answer: EventList;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Lists the kinds of actors with their counts, or the actors of one kind. */
  readonly "GET /api/actors": {
    readonly params: {  };
    readonly query: { readonly "kind"?: string; readonly "state"?: string; readonly "stuck"?: "true" | "false"; readonly "stopped"?: "true" | "false"; readonly "id"?: string; readonly "after"?: string; readonly "oldest"?: "true" | "false"; readonly "limit"?: number; readonly "version"?: string; readonly "text"?: string };
    readonly body: undefined;
    readonly answer: ActorPage;
    readonly code: "actor.not-found" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Shows a kind of actors: the states of its machine and the transitions between them. */
  readonly "GET /api/actor-kinds/{kind}": {
    readonly params: { readonly "kind": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: ActorChart;
    readonly code: "actor.not-found" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid";
  };
  /** Shows one actor: state, history, what it waits for and what it would take. */
  readonly "GET /api/actors/{kind}/{id}": {
    readonly params: { readonly "kind": string; readonly "id": string };
    readonly query: { readonly "version"?: string };
    readonly body: undefined;
    readonly answer: Actor;
    readonly code: "actor.not-found" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Lets an actor that was given up go on from its last committed state, or runs again what is set aside. */
  readonly "POST /api/actors/{kind}/{id}/restart": {
    readonly params: { readonly "kind": string; readonly "id": string };
    readonly query: {  };
    readonly body: Reason | undefined;
    readonly answer: ActorRestart;
    readonly code: "actor.not-found" | "actor.not-stopped" | "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported" | "validation.reason-too-long";
  };
  /** Answers when something has changed, or after `wait` seconds. Pages refresh by it. */
  readonly "GET /api/changes": {
    readonly params: {  };
    readonly query: { readonly "after"?: string; readonly "wait"?: number; readonly "every"?: number };
    readonly body: undefined;
    readonly answer: Changes;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Shows how threads, pool and store are doing. */
  readonly "GET /api/runtime": {
    readonly params: {  };
    readonly query: { readonly "version"?: string };
    readonly body: undefined;
    readonly answer: Runtime;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Asks a node to finish its work and end; the others go on. */
  readonly "POST /api/runtime/nodes/{id}/drain": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: NodeDraining;
    readonly code: "actor.not-found" | "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "node.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Lists the e-mails of the portal, newest first. */
  readonly "GET /api/mails": {
    readonly params: {  };
    readonly query: { readonly "status"?: "Queued" | "Waiting" | "Sent" | "Failed"; readonly "search"?: string; readonly "page"?: number; readonly "pageSize"?: number; readonly "version"?: string };
    readonly body: undefined;
    readonly answer: MailList;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid" | "validation.filter-invalid";
  };
  /** Tells what became of an e-mail, with its last tries. */
  readonly "GET /api/mails/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: MailWithTries;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "mail.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid";
  };
  /** Shows an e-mail as it was written: its headers and its text. */
  readonly "GET /api/mails/{id}/text": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "mail.not-found" | "mail.text-unavailable" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid";
  };
  /** Shows an e-mail as its recipient sees it. */
  readonly "GET /api/mails/{id}/html": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "mail.not-found" | "mail.text-unavailable" | "rate-limited" | "route.not-found" | "service.busy" | "validation.body-invalid";
  };
  /** Sends an e-mail that waits or failed now. */
  readonly "POST /api/mails/{id}/resend": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Resent;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "mail.already-sent" | "mail.not-found" | "rate-limited" | "route.not-found" | "service.busy" | "storage.full" | "validation.body-invalid";
  };
  /** Sends all e-mails again that failed since a time. */
  readonly "POST /api/mails/resend": {
    readonly params: {  };
    readonly query: {  };
    readonly body: MailsResendRequest | undefined;
    readonly answer: MailsResent;
    readonly code: "auth.cross-origin" | "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "storage.full" | "validation.body-invalid" | "validation.encoding-unsupported";
  };
  /** Says that the process is up. */
  readonly "GET /api/health": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Health;
    readonly code: "host.not-allowed" | "internal" | "service.busy" | "validation.body-invalid";
  };
  /** Says who is asking, and by which scheme. */
  readonly "GET /api/whoami": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Identity;
    readonly code: "auth.forbidden" | "auth.invalid-credentials" | "auth.misconfigured" | "host.not-allowed" | "internal" | "rate-limited" | "service.busy" | "validation.body-invalid";
  };
  /** Says whether work can be done, and what stands in its way. */
  readonly "GET /api/ready": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Readiness;
    readonly code: "host.not-allowed" | "internal" | "service.busy" | "validation.body-invalid";
  };
}
