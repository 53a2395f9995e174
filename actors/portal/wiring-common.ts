/** Parts of the portal that most of its other parts use: stored files, links, secrets, mails and webhooks. */
import { Fatal } from '@sealwright/runtime';
import type { ServiceRuntime } from '../hosting/service-plan.ts';
import type { SigningPool } from '../pool/pool.ts';
import { StepWaits } from '../shared/coordination/step-waits.ts';
import { DiskSync } from '../shared/files/disk-sync.ts';
import { RowLists } from '../shared/lists/row-lists.ts';
import { portalKeys, SecretBox } from '../shared/secrets/secret-box.ts';
import { CertificateChecks } from '../shared/signing/certificate-checks.ts';
import { Profiles } from '../shared/signing/profiles.ts';
import { languagesOf } from './accounts/organization-settings.ts';
import { SigningLinks } from './mails/signing-links.ts';
import { createOutgoing } from './outgoing.ts';
import type { PortalOptions } from './portal-options.ts';
import { Tickets } from './shared/tickets.ts';
import { codesFrom } from './signing/signing-codes.ts';
import { BlobSweeping } from './uploads/blob-sweeping.ts';
import { Blobs, storeInPool } from './uploads/blobs.ts';
import { InspectedUploads } from './uploads/inspected-uploads.ts';
import { SegmentedUploads } from './uploads/segmented-uploads.ts';
import { SegmentFolder, SegmentObjects } from './uploads/segments.ts';
import { Uploads } from './uploads/uploads.ts';

export type PortalCommon = ReturnType<typeof createCommon>;

export function createCommon(options: PortalOptions, runtime: ServiceRuntime, pool: SigningPool) {
  const { store, clock, ids, actors } = runtime;
  const { publicUrl, trust } = options;
  const sealProfile = serviceProfileOf(options);
  const keys = portalKeys(options.secret);
  const tickets = new Tickets(keys.tickets);
  const codeFor = codesFrom(keys.codes);
  const links = new SigningLinks(tickets, clock, publicUrl);
  const secrets = new SecretBox(keys.sealing, ids);
  const lists = new RowLists(store);
  return {
    options,
    runtime,
    pool,
    publicUrl,
    sealProfile,
    tickets,
    codeFor,
    links,
    secrets,
    erasureKey: keys.erasures,
    lists,
    ...createStorage({ options, runtime, pool, sealProfile, tickets }),
    waits: new StepWaits(clock),
    languageOf: languagesOf(actors),
    certificates: new CertificateChecks(runtime, new Profiles(options.profiles), trust, 'tenant'),
    outgoing: createOutgoing(
      {
        ...options.webhooks,
        sender: options.sender,
        gateway: options.messageGateway,
        publicUrl,
      },
      runtime,
      { secretBox: secrets, links, codeFor, mailer: options.mailer },
    ),
  };
}

/** Files: contents by their hash, and uploads in one or several requests. */
function createStorage({
  options,
  runtime,
  pool,
  sealProfile,
  tickets,
}: {
  readonly options: PortalOptions;
  readonly runtime: ServiceRuntime;
  readonly pool: SigningPool;
  readonly sealProfile: string;
  readonly tickets: Tickets;
}) {
  const { store, clock } = runtime;
  const { root, objects, uploadMaxBytes } = options;
  const disk = new DiskSync();
  const blobs = new Blobs({
    root,
    runtime,
    disk,
    storeSmall: storeInPool(pool, { profile: sealProfile, clock }),
    isShared: store.nodes !== undefined,
    objects,
  });
  const segments = objects ? new SegmentObjects(objects) : new SegmentFolder(root, disk);
  const segmented = new SegmentedUploads(segments, runtime, blobs, tickets);
  const inspected = new InspectedUploads(clock);
  return {
    blobs,
    inspected,
    uploads: new Uploads({ runtime, blobs, tickets, segmented, maxBytes: uploadMaxBytes, inspected }),
    sweeping: new BlobSweeping(runtime, blobs, segmented),
  };
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
