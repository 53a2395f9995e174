/**
 * The portal put together: its actors, who does the work they ask for, and what HTTP may call.
 *
 * One runtime and one store serve it together with the batch service (`services.ts`).
 */
import { type ActorSystem, Fatal, type Runtime, type Step } from '../../runtime/index.ts';
import { certificateChecks } from '../certificate-checks.ts';
import { DiskSync } from '../disk-sync.ts';
import { JobOrder } from '../job-order.ts';
import { type Profile, Profiles } from '../profiles.ts';
import type { HostedService, ServiceParts, ServicePlan } from '../service-plan.ts';
import type { TrustOptions } from '../trust.ts';
import { Administration } from './administration.ts';
import type {
  IdempotentRequests,
  MarksSessions,
  PortalGenerations,
  PortalService,
  PortalWebhooks,
  SavedFlows,
} from './api.ts';
import { BlobSweeping } from './blob-sweeping.ts';
import { Blobs } from './blobs.ts';
import { DescribedFiles } from './described-files.ts';
import { DocumentCreation } from './document-creation.ts';
import { DocumentDirectory } from './document-directory.ts';
import { DocumentFiles } from './document-files.ts';
import { DOCUMENT } from './document-index.ts';
import { documentsIn } from './document-list.ts';
import type { IdentifierForm } from './document-plans.ts';
import { DocumentWatch } from './document-watch.ts';
import { DocumentService } from './documents.ts';
import { applySignatureHandler } from './effects/apply-signature.ts';
import { concludeHandler } from './effects/conclude.ts';
import { emptyFolderHandler } from './effects/empty-folder.ts';
import { forgetFilesHandler } from './effects/forget-files.ts';
import { generateDocumentsHandler } from './effects/generate-documents.ts';
import { makeReportHandler } from './effects/make-report.ts';
import { Folders } from './folders.ts';
import { Generations } from './generations.ts';
import { RepeatedRequests } from './idempotent-requests.ts';
import { languagesOf } from './languages.ts';
import type { Mailer } from './mail-port.ts';
import type { Mails } from './mails.ts';
import { MarksSessionService } from './marks-sessions.ts';
import { createOutgoing, type Outgoing } from './outgoing.ts';
import { PendingNotices } from './pending-notices.ts';
import { portalDefinitions } from './registry.ts';
import { Renditions } from './renditions.ts';
import { Reports } from './reports.ts';
import { SavedFlowService } from './saved-flows.ts';
import { portalKeys, Sealed } from './sealed.ts';
import { SegmentedUploads } from './segmented-uploads.ts';
import { SigningService } from './signing.ts';
import { CertificateSigning } from './signing-certificates.ts';
import { codesFrom, SigningCodes } from './signing-codes.ts';
import { SigningLinks } from './signing-links.ts';
import { TenantDirectory } from './tenants.ts';
import { bootstrapTenants } from './tenants-bootstrap.ts';
import { Tickets } from './tickets.ts';
import { Uploads } from './uploads.ts';
import { UserDirectory } from './users.ts';
import { Validation } from './validation.ts';

export interface PortalOptions {
  /** `{Storage:Root}/portal`, absolute. */
  readonly root: string;
  /** The service's signing profiles; at least one of them signs here. */
  readonly profiles: readonly Profile[];
  readonly trust?: TrustOptions;
  /** `Portal:SealProfile`. @default the first profile that signs here */
  readonly sealProfile?: string;
  /** The portal's secret from the key folder, at least 32 bytes. */
  readonly secret: Buffer;
  /** `Portal:PublicUrl`, without a slash at its end; asked for when a link is made. */
  readonly publicUrl: () => string;
  /** `Portal:AllowUnprovenCertificates`: without trusted roots, people sign with any certificate. @default false */
  readonly allowUnproven?: boolean;
  /** `Portal:Identifiers`. */
  readonly identifiers: IdentifierForm;
  /** `Portal:UploadMaxBytes`. */
  readonly uploadMaxBytes: number;
  /** `Portal:NotifyParticipants:*`. */
  readonly notifyParticipants: { readonly concluded: boolean; readonly newVersion: boolean };
  /** What has to be there after the start. */
  readonly tenants: Parameters<typeof bootstrapTenants>[1];
  readonly mailer: Mailer;
  /** Address all mails come from. */
  readonly sender: string;
  /** `Portal:WebhookAllowPrivate`; `Portal:WebhookConcludedDelaySeconds`, in milliseconds. */
  readonly webhooks: { readonly allowPrivate: boolean; readonly concludedDelay: number };
}

type Members = { readonly [Member in keyof PortalService]: Portal[Member] } & {
  readonly outgoing: Outgoing;
  readonly sweeping: BlobSweeping;
};

export class Portal implements PortalService, HostedService {
  readonly tenants: TenantDirectory;
  readonly uploads: Uploads;
  readonly documents: DocumentService;
  readonly signing: SigningService;
  readonly validation: Validation;
  readonly folders: Folders;
  readonly savedFlows: SavedFlows;
  readonly marksSessions: MarksSessions;
  readonly generations: PortalGenerations;
  readonly webhooks: PortalWebhooks;
  readonly mails: Mails;
  readonly administration: Administration;
  readonly reports: Reports;
  readonly users: UserDirectory;
  readonly idempotency: IdempotentRequests;
  readonly #made: Members;

  private constructor(made: Members) {
    this.#made = made;
    this.tenants = made.tenants;
    this.uploads = made.uploads;
    this.documents = made.documents;
    this.signing = made.signing;
    this.validation = made.validation;
    this.folders = made.folders;
    this.savedFlows = made.savedFlows;
    this.marksSessions = made.marksSessions;
    this.generations = made.generations;
    this.webhooks = made.webhooks;
    this.mails = made.mails;
    this.administration = made.administration;
    this.reports = made.reports;
    this.users = made.users;
    this.idempotency = made.idempotency;
  }

  static plan(options: PortalOptions, parts: ServiceParts): ServicePlan<Portal> {
    const { store, clock, ids, log, faults, pool } = parts;
    const { publicUrl } = options;
    const sealProfile = sealProfileOf(options);
    const keys = portalKeys(options.secret);
    const disk = new DiskSync();
    const blobs = new Blobs(options.root, { ids, disk, clock });
    const tickets = new Tickets(keys.tickets);
    const codeFor = codesFrom(keys.codes);
    const links = new SigningLinks({ tickets, clock, publicUrl });
    const watch = new DocumentWatch(clock);
    const certificates = certificateChecks(options, new Profiles(options.profiles), { clock, log });
    let runtime: Runtime | undefined;
    const system = (): ActorSystem => {
      if (runtime === undefined) throw new Error('The portal is not open yet.');
      return runtime.system;
    };
    const languageOf = languagesOf(system);
    const sealing = { pool, blobs, clock, faults, log, sealProfile, certificates, languageOf };
    let making:
      | { readonly uploads: Uploads; readonly creation: DocumentCreation; readonly sweeping: BlobSweeping }
      | undefined;
    const opened = () => {
      if (making === undefined) throw new Error('The portal is not open yet.');
      return making;
    };
    const outgoing = createOutgoing(
      { ...options.webhooks, sender: options.sender },
      {
        ...{ system, store, clock, ids, links, codeFor, mailer: options.mailer },
        sealed: new Sealed(keys.sealing, ids),
      },
    );
    const observers: ((step: Step) => void)[] = [(step) => watch.observe(step)];
    return {
      definitions: portalDefinitions,
      handlers: {
        applySignature: applySignatureHandler(sealing),
        conclude: concludeHandler({ ...sealing, tellParticipants: options.notifyParticipants.concluded }),
        ...outgoing.handlers,
        emptyFolder: emptyFolderHandler({
          store,
          system,
          documentsIn: (organization, folder, limit) => documentsIn(store, organization, folder, limit),
          documentKind: DOCUMENT,
        }),
        makeReport: makeReportHandler({ store, blobs }),
        forgetFiles: forgetFilesHandler({ system, sweeping: () => opened().sweeping }),
        generateDocuments: generateDocumentsHandler({
          ...{ system, clock, blobs, pool },
          uploads: () => opened().uploads,
          creation: () => opened().creation,
        }),
      },
      observe(step) {
        for (const observe of observers) observe(step);
      },
      async open(given) {
        runtime = given;
        const { system: actors } = given;
        await blobs.ready();
        const [newest] = await store.rows({ view: 'documents-created', reverse: true, limit: 1 });
        const order = new JobOrder(clock, (newest?.key[0] as number | undefined) ?? 0);
        const tenants = new TenantDirectory({ system: actors, store, clock });
        const administration = new Administration({ system: actors, store, clock, ids });
        const folders = new Folders({ system: actors, store, clock, ids });
        const reports = new Reports({ system: actors, store, clock, ids, blobs, tickets });
        observers.push(
          (step) => tenants.observe(step),
          (step) => folders.observe(step),
          (step) => reports.observe(step),
        );
        const segmented = new SegmentedUploads(options.root, {
          ...{ system: actors, store, clock, ids, disk, blobs, tickets, faults },
        });
        const maxBytes = options.uploadMaxBytes;
        const uploads = new Uploads({
          system: actors,
          clock,
          ids,
          blobs,
          tickets,
          segmented,
          faults,
          maxBytes,
        });
        const directory = new DocumentDirectory({ system: actors, store });
        const plans = { ids, identifiers: options.identifiers };
        const files = new DocumentFiles({
          uploads,
          pool,
          blobs,
          clock,
          sealProfile,
          maxBytes: maxBytes * 20,
        });
        const { mails, webhooks } = outgoing;
        const described = new DescribedFiles({ pool, blobs, clock, sealProfile });
        const renditions = new Renditions({
          ...{ documents: directory, described, pool, blobs, tickets, clock },
          get publicUrl() {
            return publicUrl();
          },
          languageOf,
        });
        const creation = new DocumentCreation({
          ...{ system: actors, clock, ids, faults, order, files, folders, plans },
        });
        const sweeping = new BlobSweeping({ blobs, segmented, store, clock, log });
        making = { uploads, creation, sweeping };
        const documents = new DocumentService({
          ...{ system: actors, store, clock, directory, files, folders, links, plans, creation },
          contents: renditions,
          pending: new PendingNotices({ store, directory, mails }),
          tellNewVersion: options.notifyParticipants.newVersion,
        });
        const signing = new SigningService({
          ...{ system: actors, clock, ids, faults, blobs, directory, watch, links, uploads, tenants },
          codes: new SigningCodes({ system: actors, clock, codeFor }),
          certificates: new CertificateSigning({
            ...{ system: actors, clock, ids, faults, pool, blobs, directory, watch, tickets, sealProfile },
            allowUnproven: options.allowUnproven ?? false,
            languageOf,
          }),
        });
        await bootstrapTenants(administration, options.tenants, outgoing.registry);
        return new Portal({
          ...{ tenants, administration, uploads, documents, signing, folders, mails, webhooks, outgoing },
          reports,
          users: new UserDirectory({ system: actors, store, clock, ids }),
          idempotency: new RepeatedRequests({ system: actors, store, ids, faults }),
          sweeping,
          validation: new Validation({ documents: directory, described, uploads }),
          savedFlows: new SavedFlowService({ system: actors, store, clock, ids }),
          generations: new Generations({ system: actors, store, clock, ids, blobs, pool, uploads, creation }),
          marksSessions: new MarksSessionService({
            ...{ system: actors, clock, ids, uploads, tenants },
            get publicUrl() {
              return publicUrl();
            },
          }),
        });
      },
    };
  }

  async start(): Promise<void> {
    this.#made.sweeping.start();
  }

  async quiet(): Promise<void> {
    await this.#made.sweeping.stop();
    this.#made.outgoing.close();
  }
}

/** @throws {Fatal} `portal.no-seal`: no profile signs here, or the one that is named does not */
function sealProfileOf({ profiles, sealProfile }: PortalOptions): string {
  const local = profiles.filter(({ method }) => method === 'Local');
  const named = local.find(({ name }) => name === sealProfile);
  // `default` stands for the first one when none is called so.
  const found = named ?? (sealProfile === undefined || sealProfile === 'default' ? local[0] : undefined);
  if (found !== undefined) return found.name;
  throw new Fatal(
    'portal.no-seal',
    sealProfile === undefined
      ? 'The portal needs a signing profile with the Method Local to seal electronic signatures.'
      : `Portal:SealProfile names ${sealProfile}, which is no signing profile with the Method Local.`,
  );
}
