/** Parts of the portal by which documents are created, changed, read, listed and checked. */
import { PHONE_CHANNELS } from '../../contracts/portal/words.ts';
import type { ServiceRuntime } from '../hosting/service-plan.ts';
import { OrderNumbers } from '../shared/ids/order-numbers.ts';
import { remindersOf, signedFileRule } from './accounts/organization-settings.ts';
import { DocumentColumns } from './document-records/document-columns.ts';
import { DocumentHistory } from './document-records/document-history.ts';
import { DocumentDirectory } from './document-records/document-reader.ts';
import { DocumentCreation } from './documents/document-creation.ts';
import { DocumentEdits } from './documents/document-edits.ts';
import { DocumentExports } from './documents/document-export.ts';
import { DocumentFiles } from './documents/document-files.ts';
import { DocumentOperations } from './documents/document-operations.ts';
import { DocumentPackages } from './documents/document-packages.ts';
import { DocumentService } from './documents/documents.ts';
import { PendingReminders } from './documents/pending-reminders.ts';
import { SenderOverview } from './documents/sender-overview.ts';
import { Validation } from './documents/validation.ts';
import { Folders } from './folders/folders.ts';
import type { PortalOptions } from './portal-options.ts';
import { DescribedFiles } from './renditions/described-files.ts';
import { Renditions } from './renditions/renditions.ts';
import { Reports } from './reports/reports.ts';
import { LegalHolds } from './retention/legal-holds.ts';
import { Retention } from './retention/retention.ts';
import type { PortalCommon } from './wiring-common.ts';

/** A file of a document is at most this many uploads long. */
const UPLOADS_PER_FILE = 20;

export async function createDocumentServices(common: PortalCommon) {
  const { runtime, pool, blobs, tickets, lists, waits, sealProfile, publicUrl, languageOf } = common;
  const { store, clock } = runtime;
  const directory = new DocumentDirectory(runtime);
  const folders = new Folders(runtime, lists, waits);
  const counters = await store.counters('documents/');
  const columns = new DocumentColumns(store, counters);
  const described = new DescribedFiles(pool, blobs, clock, sealProfile);
  const contents = new Renditions({
    documents: directory,
    described,
    pool,
    blobs,
    tickets,
    clock,
    publicUrl,
    languageOf,
    history: new DocumentHistory(store),
  });
  const { files, creation, documentEdits, order, plans } = await createChanges(common, directory, folders);
  const documents = new DocumentService({
    runtime,
    directory,
    creation,
    folders,
    contents,
    links: common.links,
    columns,
  });
  return {
    directory,
    files,
    folders,
    columns,
    contents,
    creation,
    order,
    documents,
    documentEdits,
    plans,
    senderOverview: new SenderOverview(runtime, directory, folders, columns),
    documentPackages: new DocumentPackages(documents, pool, blobs, clock),
    documentExports: new DocumentExports((tenant, query) => documents.list(tenant, query)),
    documentOperations: new DocumentOperations(runtime, columns),
    pendingReminders: new PendingReminders(store, directory, common.outgoing.mails),
    validation: new Validation(runtime, directory, described, common.uploads),
    retention: new Retention(runtime, folders),
    legalHolds: new LegalHolds(runtime, directory),
    reports: new Reports(runtime, blobs, tickets, waits),
  };
}

export type DocumentServices = Awaited<ReturnType<typeof createDocumentServices>>;

/** Creation and later changes, which plan and check documents in the same way. */
async function createChanges(common: PortalCommon, directory: DocumentDirectory, folders: Folders) {
  const { options, runtime, pool, blobs, uploads, inspected, sealProfile } = common;
  const { clock, ids, actors } = runtime;
  const plans = {
    ids,
    identifiers: options.identifiers,
    confirmations: [
      'AuthenticatorApp' as const,
      ...(options.messageGateway === undefined ? [] : PHONE_CHANNELS),
    ],
  };
  const files = new DocumentFiles({
    uploads,
    pool,
    blobs,
    clock,
    maxBytes: options.uploadMaxBytes * UPLOADS_PER_FILE,
    sealProfile,
    refusesSignedFiles: signedFileRule(actors),
    inspected,
  });
  const order = await orderNumbers(runtime);
  const creation = new DocumentCreation({
    runtime,
    order,
    files,
    folders,
    plans,
    defaultReminders: remindersOf(actors),
    canTimestamp: hasTimestamps(options, sealProfile),
  });
  const documentEdits = new DocumentEdits({
    runtime,
    directory,
    files,
    plans,
    notifyNewVersion: options.notifyParticipants.newVersion,
  });
  return { files, creation, documentEdits, order, plans };
}

/** Continues after the newest document of the store. */
async function orderNumbers({
  store,
  clock,
}: Pick<ServiceRuntime, 'store' | 'clock'>): Promise<OrderNumbers> {
  const [newest] = await store.rows({ view: 'documents-created', reverse: true, limit: 1 });
  return new OrderNumbers(clock, (newest?.key[0] as number | undefined) ?? 0, store.nodes?.slot);
}

function hasTimestamps({ profiles }: PortalOptions, sealProfile: string): boolean {
  return profiles.some(
    (profile) =>
      profile.method === 'Local' && profile.name === sealProfile && profile.choices?.timestamp !== undefined,
  );
}
