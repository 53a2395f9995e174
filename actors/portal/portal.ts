/** The portal: actor definitions, effect handlers, start and stop. Shares runtime and store with the batch service. */
import type { ServicePlan, ServiceRuntime } from '../hosting/service-plan.ts';
import type { SigningPool } from '../pool/pool.ts';
import { Singletons } from '../shared/coordination/singletons.ts';
import { createAccounts } from './accounts.ts';
import { BrandingService } from './branding/branding.ts';
import { DOCUMENT } from './document-records/document-index.ts';
import { documentsIn } from './document-records/document-list.ts';
import { createDocumentServices } from './document-services.ts';
import { operateDocumentsHandler } from './documents/document-operations.ts';
import { forgetParticipantUploadsHandler, removeFilesHandler } from './documents/remove-files.ts';
import { emptyFolderHandler } from './folders/empty-folder.ts';
import { generateDocumentsHandler } from './generations/generate-documents.ts';
import { IdempotentRequestService } from './idempotent-requests.ts';
import { leaveVisitsHandler, makeLinkDocumentHandler } from './links/make-link-document.ts';
import type { PortalOptions } from './portal-options.ts';
import { portalDefinitions } from './registry.ts';
import { makeReportHandler } from './reports/reports.ts';
import { createRequestServices } from './request-services.ts';
import { retainHandler } from './retention/retention-pass.ts';
import { cancelDraftDocumentsHandler, confirmDraftHandler } from './saved-requests/drafts.ts';
import { settleGroups } from './scim/groups.ts';
import { applySignatureHandler } from './signing/apply-signature.ts';
import { concludeDocumentHandler } from './signing/conclude-document.ts';
import { createSigningServices } from './signing-services.ts';
import { createCommon } from './wiring-common.ts';

/** The portal, opened. */
export type Portal = Awaited<ReturnType<Awaited<ReturnType<typeof planPortal>>['open']>>;

/** Builds the service; the runtime it works on is created from the plan. */
export async function planPortal(options: PortalOptions, runtime: ServiceRuntime, pool: SigningPool) {
  const wiring = await createWiring(options, runtime, pool);
  const { common, accounts, documents, signing, requests } = wiring;
  const { outgoing } = common;
  const portal = {
    ...accounts,
    ...documents,
    ...signing,
    ...requests,
    uploads: common.uploads,
    mails: outgoing.mails,
    mailTrouble: outgoing.mailTrouble,
    webhooks: outgoing.webhooks,
    branding: new BrandingService(runtime.actors, common.languageOf),
    idempotency: new IdempotentRequestService(runtime),
    publicUrl: options.publicUrl,
    start: () => start(wiring),
    drain: () => drain(wiring),
  };
  const observers = [
    common.waits,
    documents.columns,
    common.lists,
    documents.senderOverview,
    accounts.tenants,
    accounts.folderRights,
    outgoing.registry,
  ];
  return {
    definitions: portalDefinitions,
    handlers: handlersOf(wiring),
    observe(step) {
      for (const observer of observers) observer.observe(step);
    },
    async open() {
      await runtime.store.nodes?.countersInOrder('documents/', (counters) =>
        documents.columns.reset(counters),
      );
      await common.blobs.ready();
      await accounts.configure();
      return portal;
    },
  } satisfies ServicePlan;
}

async function createWiring(options: PortalOptions, runtime: ServiceRuntime, pool: SigningPool) {
  const common = createCommon(options, runtime, pool);
  const accounts = createAccounts(common);
  const documents = await createDocumentServices(common);
  const signing = createSigningServices(common, accounts, documents);
  return {
    common,
    accounts,
    documents,
    signing,
    requests: createRequestServices(common, accounts, documents, signing.codes),
    singletons: new Singletons(runtime),
  };
}

type PortalWiring = Awaited<ReturnType<typeof createWiring>>;

function handlersOf({ common, documents, signing, requests }: PortalWiring): ServicePlan['handlers'] {
  const { runtime, pool, blobs, uploads, sweeping } = common;
  const { store, faults } = runtime;
  const { columns, creation } = documents;
  return [
    applySignatureHandler(signing.sealing),
    concludeDocumentHandler(signing.sealing),
    ...common.outgoing.handlers,
    emptyFolderHandler(runtime, documentsIn, DOCUMENT),
    operateDocumentsHandler(runtime, columns),
    cancelDraftDocumentsHandler(creation),
    confirmDraftHandler(runtime),
    makeLinkDocumentHandler(requests.linkVisits),
    leaveVisitsHandler(runtime),
    makeReportHandler(store, blobs, faults),
    removeFilesHandler(runtime, sweeping),
    forgetParticipantUploadsHandler(runtime, sweeping),
    retainHandler(runtime),
    signing.erasures.handler,
    generateDocumentsHandler(runtime, { blobs, pool, uploads, creation }),
  ];
}

async function start({ common, documents, signing, singletons }: PortalWiring): Promise<void> {
  const { columns } = documents;
  common.sweeping.startTrimming();
  await singletons.run('files', () => common.sweeping.start());
  await singletons.run('retention', () => documents.retention.start());
  await settleGroups(common.runtime);
  await signing.erasures.resume();
  void columns.prepare();
}

async function drain({ common, accounts, documents, singletons }: PortalWiring): Promise<void> {
  const { columns } = documents;
  accounts.signIn.close();
  documents.senderOverview.close();
  columns.close();
  await singletons.stop();
  await documents.retention.stop();
  await common.sweeping.stop();
  await singletons.release();
  common.outgoing.close();
}
