/** The portal inside the test's own process: real LMDB, real files, real pool; mails and webhooks are looked at, not sent. */

import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ActorCalls,
  type ActorStore,
  type Clock,
  createRuntime,
  Faults,
  type Runtime,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import type { ExecutionContext } from 'ava';
import { SigningPool } from '../../../../actors/pool/pool.ts';
import { poolOptions } from '../../../../actors/pool/pool-options.ts';
import type { CreateDocuments, SigningAccess, Tenant } from '../../../../actors/portal/api.ts';
import type { DocumentService } from '../../../../actors/portal/documents/documents.ts';
import type { OutgoingMail } from '../../../../actors/portal/mails/mail-port.ts';
import { type Portal, planPortal } from '../../../../actors/portal/portal.ts';
import type { PortalOptions } from '../../../../actors/portal/portal-options.ts';
import type { Profile, SigningChoices } from '../../../../actors/shared/signing/profiles.ts';
import { NO_TRUST, type TrustOptions } from '../../../../actors/shared/signing/trust-options.ts';
import type { NewFile, NewFlowAction } from '../../../../contracts/portal/flow.ts';
import type { ElectronicSigning } from '../../../../contracts/portal/signing/signing.ts';
import type { DocumentId, ProfileName } from '../../../../machines/ids.ts';
import type { DocumentEvent } from '../../../../machines/portal/portal-types.ts';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { pki } from '../../../pki/pki.ts';
import { openTestStore } from '../../../postgres/test-store.ts';
import { SHARDS } from '../../../project/shards.ts';
import { reached } from '../../../project/waiting.ts';

type ShownDocument = Awaited<ReturnType<DocumentService['get']>>;

export interface PortalFixture {
  readonly root: string;
  readonly portal: Portal;
  readonly runtime: Runtime;
  readonly store: ActorStore;
  readonly faults: Faults;
  readonly tenant: Tenant;
  /** All mails so far. */
  readonly mails: readonly OutgoingMail[];
  /** All events documents have announced so far, in the order they were committed. */
  readonly events: readonly DocumentEvent[];
  readonly complaints: readonly string[];
  file(name?: string, content?: Buffer, contentType?: string): Promise<NewFile>;
  /** One document of one file. */
  create(flowActions: readonly NewFlowAction[], more?: Partial<CreateDocuments>): Promise<DocumentId>;
  get(id: DocumentId): Promise<ShownDocument>;
  /** Resolves once the document is as asked, at most half a minute later. */
  until(id: DocumentId, isIt: (document: ShownDocument) => boolean): Promise<ShownDocument>;
  /** The ticket an application gets for a participant. */
  ticket(id: DocumentId, emailAddress: string, requireEmailAuthentication?: boolean): Promise<SigningAccess>;
  sign(id: DocumentId, emailAddress: string, signing?: Partial<ElectronicSigning>): Promise<void>;
  /** A copy of the signed file, under a name verifiers like. */
  signedFile(id: DocumentId, name?: string): Promise<string>;
  /** @param grace milliseconds for effects under way. @default 5,000 */
  close(grace?: number): Promise<void>;
}

export const ORIGIN = { ipAddress: '203.0.113.7', userAgent: 'Test' } as const;

export function person(name: string, more: Partial<NewFlowAction['user']> = {}) {
  return { name, email: `${name.toLowerCase()}@example.org`, ...more };
}

/** Somebody who signs electronically in a step. */
export function signer(name: string, step = 0, more: Partial<NewFlowAction> = {}): NewFlowAction {
  return { type: 'Signer', step, user: person(name), allowElectronicSignature: true, ...more };
}

/** Certificates of people have a path to the test root over its intermediates. */
function trusted(): TrustOptions {
  return { ...NO_TRUST, roots: [pki().root.certificate], intermediates: pki().signer('rsa-2048').chain };
}

export async function portalFixture(
  t: Pick<ExecutionContext, 'teardown'>,
  options: Partial<PortalOptions> & {
    readonly root?: string;
    readonly faults?: Faults;
    readonly poolFaults?: string;
    /** @default the system clock */
    readonly clock?: Clock;
    /** Of the sealing profile. */
    readonly choices?: SigningChoices;
  } = {},
): Promise<PortalFixture> {
  const {
    root: given,
    faults = new Faults(),
    poolFaults = '',
    choices = {},
    clock = systemClock,
    ...more
  } = options;
  const trust = more.trust ?? trusted();
  const root = given ?? (await mkdtemp(join(tmpdir(), 'sealwright-flow-')));
  const store = await openTestStore({ folder: join(root, 'db') });
  const complaints: string[] = [];
  const complain = (text: string, properties?: object) =>
    complaints.push(`${text} ${JSON.stringify(properties ?? {})}`);
  const log = { debug() {}, info() {}, warn: complain, error: complain };
  const profile: Profile = {
    method: 'Local',
    verify: true,
    encrypt: false,
    name: 'default' as ProfileName,
    format: undefined,
    signer: pki().signer('p-256'),
    choices,
    anchors: [pki().root.certificate],
    validTo: Date.now() + 86_400_000,
    certificate: 'test',
  };
  const pool = new SigningPool({
    threads: 1,
    eagerThreads: 0,
    clock: systemClock,
    log,
    ...poolOptions(
      { profiles: [profile], trust },
      { processing: root, output: root, error: root, faults: poolFaults },
    ),
  });
  const mails: OutgoingMail[] = [];
  const events: DocumentEvent[] = [];
  const actors = new ActorCalls();
  const plan = await planPortal(
    {
      root: join(root, 'portal'),
      profiles: [profile],
      trust,
      secret: Buffer.alloc(32, 7),
      publicUrl: () => 'https://sign.example.org',
      identifiers: 'Any',
      uploadMaxBytes: 10_000_000,
      userSessionHours: 12,
      notifyParticipants: { concluded: true, newVersion: true },
      tenants: {
        organizations: [],
        applications: [
          { organization: 'Org', application: 'App', role: 'Normal', secret: 's'.repeat(64), from: 'stored' },
        ],
      },
      mailer: {
        async send(mail) {
          mails.push(mail);
          return 'Taken.';
        },
        close() {},
      },
      sender: 'portal@example.org',
      webhooks: { allowPrivate: true, concludedDelay: 0 },
      ...more,
    },
    { actors, store, clock, ids: systemIds, log, faults },
    pool,
  );
  const runtime = await createRuntime({
    store,
    actors: plan.definitions,
    // Events are read from steps, also where no webhook needs them.
    handlers: plan.handlers.map((one) =>
      one.name === 'announce' ? { ...one, handler: { ...one.handler, isNeeded: () => true } } : one,
    ),
    calls: actors,
    start: 'later',
    clock,
    log,
    faults,
    deadLetters: false,
    onCommitted: (step) => {
      for (const { effect } of step.effects) {
        if (effect.do === 'announce') events.push(...(effect['events'] as unknown as DocumentEvent[]));
      }
      plan.observe(step);
    },
    ...(SHARDS > 1 && {
      shards: {
        count: SHARDS,
        parts: new URL('../../../../actors/shard-module.js', import.meta.url).href,
        faults: '',
        onLost: complain,
      },
    }),
  });
  const portal = await plan.open();
  runtime.start();
  await portal.start();
  const tenant = await portal.tenants.identify(`App|${'s'.repeat(64)}`);
  if (tenant === undefined) throw new Error('the tenant of the test is missing');
  let closed = false;
  const close = async (grace = 5_000) => {
    if (closed) return;
    closed = true;
    await portal.drain();
    await runtime.stop({ graceMs: grace });
    await pool.close();
    await store.close();
  };
  t.teardown(async () => {
    await close();
    if (given === undefined) await rm(root, { recursive: true, force: true });
  });
  const fixture: PortalFixture = {
    root,
    portal,
    runtime,
    store,
    faults,
    tenant,
    mails,
    events,
    complaints,
    close,
    async file(name = 'contract.pdf', content = contract(), contentType = 'application/pdf') {
      const sink = await portal.uploads.open();
      await sink.write(content);
      const { id } = await portal.uploads.accept(tenant, sink, { name, contentType });
      return { displayName: name.replace(/\.[a-z0-9]+$/, ''), id, name, contentType };
    },
    async create(flowActions, moreOf = {}) {
      const files = moreOf.files ?? [await fixture.file()];
      const [made] = await portal.documents.create(tenant, { files, flowActions, ...moreOf });
      if (made === undefined) throw new Error('no document was made');
      return made.documentId;
    },
    get: (id) => portal.documents.get(tenant, id),
    async until(id, isIt) {
      let document = await fixture.get(id);
      await reached(async () => {
        document = await fixture.get(id);
        return isIt(document);
      }).catch((error: Error) => {
        throw new Error(`the document stayed ${JSON.stringify(document)}`, { cause: error });
      });
      return document;
    },
    async ticket(id, emailAddress, requireEmailAuthentication = false) {
      const { url } = await portal.documents.actionUrl(tenant, id, {
        emailAddress,
        requireEmailAuthentication,
      });
      const { key } = await fixture.get(id);
      return { by: 'ticket', key, ticket: new URL(url).searchParams.get('ticket') ?? '' };
    },
    async sign(id, emailAddress, signing = {}) {
      const access = await fixture.ticket(id, emailAddress);
      await portal.signing.signElectronically(
        access,
        { positions: [], initialsPositions: [], ...signing },
        ORIGIN,
      );
    },
    async signedFile(id, name = 'signed.pdf') {
      const file = await portal.documents.content(tenant, id, 'Signatures');
      const path = join(root, `${id}-${name}`);
      await copyFile(file.path, path);
      return path;
    },
  };
  return fixture;
}

/** A call that the portal refuses, by its code. */
export async function refusedAs(t: ExecutionContext, code: string, promise: Promise<unknown>): Promise<void> {
  const error = await t.throwsAsync(promise, undefined, code);
  t.is((error as { code?: string }).code, code);
}

export const approver = (name: string, step = 0) => ({ type: 'Approver', step, user: person(name) }) as const;
