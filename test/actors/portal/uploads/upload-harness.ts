/** The stored parts of the portal inside the test's own process: real LMDB, real files, a clock that can be set forward. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Actor,
  type ActorStore,
  type Clock,
  createRuntime,
  Faults,
  type HandledEffect,
  type Log,
  type Runtime,
  type Step,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import type { ExecutionContext } from 'ava';
import { Administration } from '../../../../actors/portal/accounts/administration.ts';
import { ORGANIZATION } from '../../../../actors/portal/accounts/organizations.ts';
import { TenantDirectory } from '../../../../actors/portal/accounts/tenants.ts';
import type { Tenant } from '../../../../actors/portal/api.ts';
import { Tickets } from '../../../../actors/portal/shared/tickets.ts';
import { Blobs } from '../../../../actors/portal/uploads/blobs.ts';
import { SEGMENTED_UPLOAD, SegmentedUploads } from '../../../../actors/portal/uploads/segmented-uploads.ts';
import { SegmentFolder, SegmentObjects } from '../../../../actors/portal/uploads/segments.ts';
import { UPLOAD, Uploads } from '../../../../actors/portal/uploads/uploads.ts';
import { DiskSync } from '../../../../actors/shared/files/disk-sync.ts';
import { RowLists } from '../../../../actors/shared/lists/row-lists.ts';
import type { ObjectStore } from '../../../../actors/shared/objects/object-store.ts';
import { portalKeys, SecretBox } from '../../../../actors/shared/secrets/secret-box.ts';
import { reached } from '../../../project/waiting.ts';

export interface MovableClock extends Clock {
  forward(by: number): void;
}

/** Real waiting, and a wall clock that tests may set forward. */
export function movableClock(): MovableClock {
  let offset = 0;
  return {
    now: () => systemClock.now() + offset,
    elapsed: () => systemClock.elapsed(),
    after: (delay, task) => systemClock.after(delay, task),
    sleep: (delay, signal) => systemClock.sleep(delay, signal),
    forward(by) {
      offset += by;
    },
  };
}

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface PortalStoreOptions {
  /** Folder of an earlier fixture, to open it again. */
  readonly root?: string;
  readonly maxBytes?: number;
  readonly faults?: Faults;
  /** Kinds of actors besides those of uploads and organizations. */
  readonly definitions?: readonly Actor[];
  readonly handlers?: readonly HandledEffect<unknown>[];
  readonly observe?: (step: Step) => void;
  /** Left out: files are in the folder. */
  readonly objects?: ObjectStore;
}

export interface PortalStoreFixture {
  readonly root: string;
  readonly portal: string;
  readonly store: ActorStore;
  readonly runtime: Runtime;
  readonly clock: MovableClock;
  readonly faults: Faults;
  readonly disk: DiskSync;
  readonly blobs: Blobs;
  readonly tickets: Tickets;
  readonly sealed: SecretBox;
  readonly uploads: Uploads;
  readonly segmented: SegmentedUploads;
  readonly tenants: TenantDirectory;
  /** Follows the steps of this store. */
  readonly lists: RowLists;
  readonly administration: Administration;
  /** Fires what is due by the moved clock. */
  settle(until: () => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}

/** One secret for all fixtures, so that tickets outlive a restart. */
const KEYS = portalKeys(Buffer.alloc(32, 7));

export async function openPortalStore(
  root: string,
  options: PortalStoreOptions = {},
): Promise<PortalStoreFixture> {
  const portal = join(root, 'portal');
  const faults = options.faults ?? new Faults();
  const clock = movableClock();
  const store = openLmdbStore({ folder: join(root, 'db'), faults });
  const disk = new DiskSync();
  const blobs = new Blobs({
    root: portal,
    runtime: { ids: systemIds, clock },
    disk,
    storeSmall: undefined,
    isShared: undefined,
    objects: options.objects,
  });
  const tickets = new Tickets(KEYS.tickets);
  const sealed = new SecretBox(KEYS.sealing, systemIds);
  let tenants: TenantDirectory | undefined;
  const lists = new RowLists(store);
  const runtime = await createRuntime({
    store,
    clock,
    log: SILENT,
    faults,
    start: 'later',
    deadLetters: false,
    actors: [UPLOAD, SEGMENTED_UPLOAD, ORGANIZATION, ...(options.definitions ?? [])],
    handlers: options.handlers ?? [],
    onCommitted: (step) => {
      tenants?.observe(step);
      lists.observe(step);
      options.observe?.(step);
    },
  });
  tenants = new TenantDirectory({ actors: runtime, store, clock });
  const parts = { actors: runtime, store, clock, ids: systemIds, faults };
  const { objects } = options;
  const segments = objects ? new SegmentObjects(objects) : new SegmentFolder(portal, disk);
  const segmented = new SegmentedUploads(segments, parts, blobs, tickets);
  const uploads = new Uploads({
    runtime: parts,
    blobs,
    tickets,
    segmented,
    maxBytes: options.maxBytes ?? 1_000_000,
  });
  const administration = new Administration(parts, lists);
  let closed = false;
  return {
    root,
    portal,
    store,
    runtime,
    clock,
    faults,
    disk,
    blobs,
    lists,
    tickets,
    sealed,
    uploads,
    segmented,
    tenants,
    administration,
    async settle(until) {
      // The runtime arms its timers by the clock as it was; starting it makes it look again.
      runtime.start();
      await reached(until);
    },
    async close() {
      if (closed) return;
      closed = true;
      await runtime.stop({ graceMs: 0 });
      await store.close();
    },
  };
}

export async function portalStoreFixture(
  t: ExecutionContext,
  options: PortalStoreOptions = {},
): Promise<PortalStoreFixture> {
  const root = options.root ?? mkdtempSync(join(tmpdir(), 'sealwright-portal-'));
  const it = await openPortalStore(root, options);
  t.teardown(async () => {
    await it.close();
    rmSync(root, { recursive: true, force: true });
  });
  return it;
}

/** An organization with one ordinary application. */
export async function newTenant({ administration }: PortalStoreFixture, name: string): Promise<Tenant> {
  const organization = await administration.createOrganization({ name });
  const application = await administration.createApplication(organization.id, {
    name: `${name} App`,
    role: 'Normal',
  });
  return {
    organization: { id: organization.id, name },
    application: { id: application.id, name: application.name, role: 'Normal' },
  };
}
