/**
 * Builds the portal: actors, effect handlers and the HTTP interface.
 *
 * Shares runtime and store with the batch service (`services.ts`).
 */
import { Fatal } from '@sealwright/runtime';
import { PHONE_CHANNELS } from '../../contracts/portal/words.ts';
import type { ServicePlan, ServiceRuntime } from '../hosting/service-plan.ts';
import type { SigningPool } from '../pool/pool.ts';
import { CertificateChecks } from '../shared/certificate-checks.ts';
import { DiskSync } from '../shared/disk-sync.ts';
import type { ObjectStore } from '../shared/objects/object-store.ts';
import { OrderNumbers } from '../shared/order-numbers.ts';
import { type Profile, Profiles } from '../shared/profiles.ts';
import { portalKeys, SecretBox } from '../shared/secret-box.ts';
import { Singletons } from '../shared/singletons.ts';
import { StepWaits } from '../shared/step-waits.ts';
import { RowLists } from '../shared/tables/row-lists.ts';
import type { TrustOptions } from '../shared/trust.ts';
import { BrandingService } from './branding/branding.ts';
import { DocumentColumns } from './document-records/document-columns.ts';
import { DocumentHistory } from './document-records/document-history.ts';
import { DOCUMENT } from './document-records/document-index.ts';
import { documentsIn } from './document-records/document-list.ts';
import { DocumentDirectory } from './document-records/document-reader.ts';
import { DocumentCreation } from './documents/document-creation.ts';
import { DocumentEdits } from './documents/document-edits.ts';
import { DocumentExports } from './documents/document-export.ts';
import { DocumentFiles } from './documents/document-files.ts';
import { DocumentOperations, operateDocumentsHandler } from './documents/document-operations.ts';
import { DocumentPackages } from './documents/document-packages.ts';
import type { IdentifierFormat } from './documents/document-plans.ts';
import { DocumentService } from './documents/documents.ts';
import { PendingReminders } from './documents/pending-reminders.ts';
import { forgetParticipantUploadsHandler, removeFilesHandler } from './documents/remove-files.ts';
import { SenderOverview } from './documents/sender-overview.ts';
import { Validation } from './documents/validation.ts';
import { cancelDraftDocumentsHandler, confirmDraftHandler, Drafts } from './drafts/drafts.ts';
import { EditorSessionService } from './drafts/editor-sessions.ts';
import { SavedFlowService } from './drafts/saved-flows.ts';
import { emptyFolderHandler } from './folders/empty-folder.ts';
import { FolderGrants } from './folders/folder-grants.ts';
import { FolderRightsDirectory } from './folders/folder-rights.ts';
import { Folders } from './folders/folders.ts';
import { generateDocumentsHandler } from './generation/generate-documents.ts';
import { Generations } from './generation/generations.ts';
import { Templates } from './generation/templates.ts';
import { IdempotentRequestService } from './idempotent-requests.ts';
import type { Mailer } from './mail/mail-port.ts';
import type { MessageGateway } from './mail/message-gateway.ts';
import { SigningLinks } from './mail/signing-links.ts';
import { createOutgoing } from './outgoing.ts';
import { portalDefinitions } from './registry.ts';
import { DescribedFiles } from './renditions/described-files.ts';
import { Renditions } from './renditions/renditions.ts';
import { Activity } from './reports/activity.ts';
import { makeReportHandler, Reports } from './reports/reports.ts';
import { settleGroups } from './scim/groups.ts';
import { Provisioning } from './scim/provisioning.ts';
import { Tickets } from './shared/tickets.ts';
import { applySignatureHandler } from './signing/apply-signature.ts';
import { Authenticators } from './signing/authenticators.ts';
import { concludeDocumentHandler } from './signing/conclude-document.ts';
import { EarlySignatures } from './signing/early-signatures.ts';
import { FieldUploads } from './signing/field-uploads.ts';
import { MarksSessionService } from './signing/marks-sessions.ts';
import { CertificateSigning } from './signing/signing-certificates.ts';
import { codesFrom, SigningCodes } from './signing/signing-codes.ts';
import { SigningPages } from './signing/signing-pages.ts';
import { Signing } from './signing/signing-service.ts';
import { Administration } from './tenants/administration.ts';
import { languagesOf, remindersOf, signedFileRule } from './tenants/languages.ts';
import { OperatorKeyList } from './tenants/operator-keys.ts';
import { PasskeyCeremonies } from './tenants/passkeys.ts';
import { ProviderSignIn } from './tenants/provider-sign-in.ts';
import { SecondFactors } from './tenants/second-factors.ts';
import { UserSignIn } from './tenants/sign-in.ts';
import { TenantDirectory } from './tenants/tenants.ts';
import { UserSessions } from './tenants/user-sessions.ts';
import { UserDirectory } from './tenants/users.ts';
import { bootstrapTenants } from './tenants-bootstrap.ts';
import { BlobSweeping } from './uploads/blob-sweeping.ts';
import { Blobs, storeInPool } from './uploads/blobs.ts';
import { InspectedUploads } from './uploads/inspected-uploads.ts';
import { SegmentedUploads } from './uploads/segmented-uploads.ts';
import { SegmentFolder, SegmentObjects } from './uploads/segments.ts';
import { Uploads } from './uploads/uploads.ts';
import { OperatorDeliveries } from './webhooks/operator-deliveries.ts';

export interface PortalOptions {
  /** `{Storage:Root}/portal`, absolute. */
  readonly root: string;
  /** `Storage:Objects`. @default the files are in the folder */
  readonly objects?: ObjectStore | undefined;
  /** The service's signing profiles; at least one of them signs here. */
  readonly profiles: readonly Profile[];
  readonly trust?: TrustOptions;
  /** `Portal:SealProfile`. @default the first profile that signs here */
  readonly sealProfile?: string;
  /** Called with the kind of each signature that was put into a document, and the milliseconds that it took. */
  readonly onSigned?: ((kind: string, took: number) => void) | undefined;
  /** The portal's secret from the key folder, at least 32 bytes. */
  readonly secret: Buffer;
  /** `Portal:PublicUrl` without trailing slash; read when a link is created. */
  readonly publicUrl: () => string;
  /** `Portal:AllowUnprovenCertificates`: without trusted roots, people sign with any certificate. @default false */
  readonly allowUnproven?: boolean;
  /** `Portal:Identifiers`. */
  readonly identifiers: IdentifierFormat;
  /** `Portal:UploadMaxBytes`. */
  readonly uploadMaxBytes: number;
  /** `Portal:NotifyParticipants:*`. */
  readonly notifyParticipants: { readonly concluded: boolean; readonly newVersion: boolean };
  /** Records required after the start. */
  readonly tenants: Parameters<typeof bootstrapTenants>[1];
  /** Length of a user's session on the pages: `Auth:SessionHours`. */
  readonly userSessionHours: number;
  /** Sign-in at identity providers; `closed`: organizations without mailed links (`Identity:LocalSignIn`). @default none */
  readonly identity?: { readonly sessionMinutes: number; readonly closed: readonly string[] };
  readonly mailer: Mailer;
  /** `Portal:MessageGateway`. @default codes for telephones are refused */
  readonly messageGateway?: MessageGateway | undefined;
  /** Address all mails come from. */
  readonly sender: string;
  /** `Portal:WebhookAllowPrivate`; `Portal:WebhookConcludedDelaySeconds`, in milliseconds. */
  readonly webhooks: { readonly allowPrivate: boolean; readonly concludedDelay: number };
}

/** Share of the time of a stop in which tables of lists are kept: one in three. */
const KEEP_PART = 3;

/** The portal, opened. */
export type Portal = Awaited<ReturnType<Awaited<ReturnType<typeof planPortal>>['open']>>;

/** Builds the service; the runtime it works on is created from the plan. */
export async function planPortal(options: PortalOptions, runtime: ServiceRuntime, pool: SigningPool) {
  const { system, store, clock, ids, log, faults } = runtime;
  const { publicUrl } = options;
  const sealProfile = serviceProfileOf(options);
  const canTimestamp = options.profiles.some(
    (profile) =>
      profile.method === 'Local' && profile.name === sealProfile && profile.choices?.timestamp !== undefined,
  );
  const keys = portalKeys(options.secret);
  const disk = new DiskSync();
  const blobs = new Blobs({
    root: options.root,
    runtime,
    disk,
    storeSmall: storeInPool(pool, { profile: sealProfile, clock }),
    isShared: store.nodes !== undefined,
    objects: options.objects,
  });
  const tickets = new Tickets(keys.tickets);
  const codeFor = codesFrom(keys.codes);
  const links = new SigningLinks(tickets, clock, publicUrl);
  const waits = new StepWaits(clock);
  const certificates = new CertificateChecks(
    runtime,
    new Profiles(options.profiles),
    options.trust,
    'tenant',
  );
  const languageOf = languagesOf(system);
  const tellParticipants = options.notifyParticipants.concluded;
  const sealing = {
    pool,
    blobs,
    clock,
    faults,
    log,
    sealProfile,
    certificates,
    languageOf,
    tellParticipants,
    system,
    onSigned: options.onSigned,
  };
  const secrets = new SecretBox(keys.sealing, ids);
  const lists = new RowLists(store);
  const { indexes } = lists;
  const outgoing = createOutgoing(
    { ...options.webhooks, sender: options.sender, gateway: options.messageGateway, publicUrl, indexes },
    runtime,
    { secretBox: secrets, links, codeFor, mailer: options.mailer },
  );
  const [newest] = await store.rows({ view: 'documents-created', reverse: true, limit: 1 });
  const order = new OrderNumbers(clock, (newest?.key[0] as number | undefined) ?? 0, store.nodes?.slot);
  const tenants = new TenantDirectory(runtime);
  const administration = new Administration(runtime, lists);
  const folders = new Folders(runtime, lists, waits);
  const reports = new Reports(runtime, blobs, tickets, waits);
  const segmented = new SegmentedUploads(
    options.objects ? new SegmentObjects(options.objects) : new SegmentFolder(options.root, disk),
    runtime,
    blobs,
    tickets,
  );
  const maxBytes = options.uploadMaxBytes;
  const inspected = new InspectedUploads(clock);
  const uploads = new Uploads({ runtime, blobs, tickets, segmented, maxBytes, inspected });
  const directory = new DocumentDirectory(runtime);
  const columns = new DocumentColumns(store, await store.counters('documents/'), {
    root: options.root,
    ids,
    clock,
  });
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
    maxBytes: maxBytes * 20,
    sealProfile,
    refusesSignedFiles: signedFileRule(system),
    inspected,
  });
  const { mails, mailTrouble, webhooks } = outgoing;
  const described = new DescribedFiles(pool, blobs, clock, sealProfile);
  const renditions = new Renditions({
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
  const creation = new DocumentCreation({
    runtime,
    order,
    files,
    folders,
    plans,
    defaultReminders: remindersOf(system),
    canTimestamp,
  });
  const sweeping = new BlobSweeping(runtime, blobs, segmented);
  const documents = new DocumentService({
    runtime,
    directory,
    creation,
    folders,
    contents: renditions,
    links,
    columns,
  });
  const senderOverview = new SenderOverview(runtime, directory, folders, columns);
  const documentEdits = new DocumentEdits({
    runtime,
    directory,
    files,
    plans,
    notifyNewVersion: options.notifyParticipants.newVersion,
  });
  const passkeys = new PasskeyCeremonies(clock, secrets, publicUrl);
  const authenticators = new Authenticators(runtime, secrets, passkeys);
  const early = new EarlySignatures(runtime, waits, sealing);
  const signing = new Signing({
    runtime,
    blobs,
    pool,
    directory,
    early,
    links,
    codes: new SigningCodes(runtime, codeFor, authenticators, options.messageGateway?.perDay),
    uploads,
    certificates: new CertificateSigning({
      runtime,
      pool,
      blobs,
      directory,
      waits,
      tickets,
      uploads,
      sealProfile,
      allowUnproven: options.allowUnproven ?? false,
      languageOf,
      early,
    }),
    fieldUploads: new FieldUploads(uploads),
  });
  const generations = new Generations(runtime, { blobs, pool }, uploads, creation);
  const drafts = new Drafts(runtime, uploads, creation);
  const operatorWebhooks = new OperatorDeliveries(store, webhooks, administration);
  const users = new UserDirectory(runtime, lists);
  const folderRights = new FolderRightsDirectory(runtime);
  const signIn = new UserSignIn(runtime, links, options.userSessionHours * 3_600_000, folderRights);
  const { identity = { sessionMinutes: 720, closed: [] } } = options;
  const providerSignIn = new ProviderSignIn(runtime, {
    administration,
    users,
    signIn,
    links,
    sessionLifetime: identity.sessionMinutes * 60_000,
  });
  const singletons = new Singletons(runtime);
  const portal = {
    tenants,
    administration,
    uploads,
    documents,
    documentEdits,
    senderOverview,
    signing,
    folders,
    mails,
    mailTrouble,
    webhooks,
    users,
    signIn,
    providerSignIn,
    reports,
    branding: new BrandingService(system, languageOf),
    documentPackages: new DocumentPackages(documents, pool, blobs, clock),
    signingPages: new SigningPages({
      runtime,
      blobs,
      directory,
      links,
      tenants,
      contents: renditions,
      authenticators,
    }),
    documentExports: new DocumentExports((tenant, query) => documents.list(tenant, query)),
    pendingReminders: new PendingReminders(store, directory, mails),
    documentOperations: new DocumentOperations(runtime, columns),
    operatorWebhooks,
    activity: new Activity(store, clock, () => operatorWebhooks.organizationIds()),
    operatorKeys: new OperatorKeyList(administration),
    idempotency: new IdempotentRequestService(runtime),
    validation: new Validation(runtime, directory, described, uploads),
    drafts,
    editorSessions: new EditorSessionService({ runtime, tickets, tenants, drafts, publicUrl, folderRights }),
    templates: new Templates({ runtime, order, uploads, directory, creation, generations, folderRights }),
    savedFlows: new SavedFlowService(runtime, creation),
    generations,
    folderGrants: new FolderGrants(runtime, users),
    provisioning: new Provisioning(runtime, indexes),
    userSessions: new UserSessions(runtime),
    secondFactors: new SecondFactors({
      runtime,
      box: secrets,
      passkeys,
      links,
      sessionLifetime: options.userSessionHours * 3_600_000,
    }),
    publicUrl,
    marksSessions: new MarksSessionService(runtime, uploads, tenants, publicUrl),

    /**
     * A link by which the first administrator of an organization signs in, for the terminal of a start; makes the user if
     * nobody administers it. Undefined for an unknown organization.
     */
    async firstAdministratorLink(organization: string): Promise<string | undefined> {
      const found = await administration.findOrganization(organization);
      if (found === undefined) return undefined;
      const user = await users.firstAdministrator(found.id);
      return signIn.linkFor(user.id);
    },

    async start(): Promise<void> {
      sweeping.startTrimming();
      await singletons.run('files', () => sweeping.start());
      await settleGroups(runtime);
      void columns.prepare().then(() => columns.kept?.keepAtIntervals());
    },

    async drain(grace: number): Promise<void> {
      signIn.close();
      senderOverview.close();
      await columns.kept?.keepWithin(grace / KEEP_PART);
      columns.close();
      await singletons.stop();
      await sweeping.stop();
      await singletons.release();
      outgoing.close();
    },
  };
  const observers = [waits, columns, lists, senderOverview, tenants, folderRights, outgoing.registry];
  return {
    definitions: portalDefinitions,
    handlers: {
      applySignature: applySignatureHandler(sealing),
      conclude: concludeDocumentHandler(sealing),
      ...outgoing.handlers,
      emptyFolder: emptyFolderHandler(store, faults, documentsIn, DOCUMENT),
      operateDocuments: operateDocumentsHandler(store, columns),
      cancelDraftDocuments: cancelDraftDocumentsHandler(creation),
      confirmDraft: confirmDraftHandler({ store }),
      makeReport: makeReportHandler(store, blobs, faults),
      forgetFiles: removeFilesHandler(store, sweeping),
      forgetParticipantUploads: forgetParticipantUploadsHandler(store, sweeping),
      generateDocuments: generateDocumentsHandler(blobs, pool, uploads, creation),
    },
    observe(step) {
      for (const observer of observers) observer.observe(step);
    },
    async open() {
      await store.nodes?.countersInOrder('documents/', (counters) => columns.reset(counters));
      await blobs.ready();
      await bootstrapTenants(administration, options.tenants, outgoing.registry);
      const closed = await Promise.all(identity.closed.map((name) => administration.findOrganization(name)));
      signIn.closeFor(closed.flatMap((found) => (found === undefined ? [] : [found.id])));
      return portal;
    },
  } satisfies ServicePlan;
}

/** @throws {Fatal} `portal.no-seal`: no profile signs here, or the one that is named does not */
function serviceProfileOf({ profiles, sealProfile }: PortalOptions): string {
  const local = profiles.filter(({ method }) => method === 'Local');
  const named = local.find(({ name }) => name === sealProfile);
  // `default` is the first one when none has this name.
  const found = named ?? (sealProfile === undefined || sealProfile === 'default' ? local[0] : undefined);
  if (found !== undefined) return found.name;
  throw new Fatal(
    'portal.no-seal',
    sealProfile === undefined
      ? 'The portal needs a signing profile with the Method Local to seal electronic signatures.'
      : `Portal:SealProfile names ${sealProfile}, which is no signing profile with the Method Local.`,
  );
}
