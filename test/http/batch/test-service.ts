/**
 * The batch service behind the HTTP tests: its actors on a store in memory, its files in a temporary folder. It is open
 * and not started: no folder is watched, no job claimed and no effect run, so a test alone moves the jobs.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ActorCalls,
  accepted,
  type Calls,
  type Clock,
  createRuntime,
  Faults,
  systemClock,
} from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import { systemIds } from '#runtime/model/ids.js';
import { planBatch } from '../../../actors/batch/batch.ts';
import { JOB, PIPELINE, PIPELINE_ID } from '../../../actors/batch/job-records/kinds.ts';
import {
  type Batch,
  type BatchOptions,
  createStorageFolders,
  type StorageLayout,
  storageLayout,
} from '../../../actors/index.ts';
import { SigningPool } from '../../../actors/pool/pool.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import type { JobDetail } from '../../../contracts/batch/jobs.ts';
import type { JobMessage, JobState } from '../../../machines/batch/job-context.ts';
import type { FolderName, JobId, ProfileName } from '../../../machines/ids.ts';

const BASE = { verify: true, encrypt: false, format: undefined, anchors: [] } as const;
const LOCAL = { ...BASE, method: 'Local', signer: undefined, validTo: 1_900_000_000_000 } as const;
const FACTS = { source: 'Pfx', subject: 'CN=Signer', thumbprint: 'AB12', notAfter: 1_900_000_000_000 };
const PERSON = { name: 'Ana', email: 'ana@example.test', identifier: '1', allowElectronicSignature: true };
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const STAGED = { sha256: 'aa', length: 3, mtimeMs: 1, inode: '1:2', readAt: 2 };

type Message = JobMessage extends infer One ? (One extends JobMessage ? Omit<One, 'at'> : never) : never;

/** The messages that bring a queued job to a state. */
const WAYS: { readonly [State in JobState]: readonly Message[] } = {
  Queued: [],
  Processing: [{ type: 'CLAIM' }],
  Verifying: [{ type: 'CLAIM' }, { type: 'SIGNED', input: STAGED, signed: { sha256: 'bb', length: 4 } }],
  AwaitingSigner: [{ type: 'CLAIM_REMOTE' }, { type: 'DISPATCHED', documentId: 'd-1', input: STAGED }],
  Completed: [
    { type: 'CLAIM' },
    { type: 'SIGNED', input: STAGED, signed: { sha256: 'bb', length: 4 } },
    { type: 'RELEASED', outputFileName: 'a.signed.pdf' },
    { type: 'TIDIED', diverged: false },
  ],
  Failed: [
    { type: 'CLAIM' },
    { type: 'FAIL', code: 'pdf.malformed', message: 'It is damaged.' },
    { type: 'QUARANTINED' },
  ],
  Canceled: [{ type: 'CANCEL', reason: null }],
};

/** The service, and what a test does to it from the side. */
export interface TestService extends Batch {
  readonly folder: string;
  readonly input: string;
  readonly actors: Calls;
  /** Runs the effects from now on; still no job is claimed. */
  runEffects(): void;
  /** Uploads that have begun. */
  opened: number;
  /** Called before the job of an upload is created, which waits for the result. */
  accepting: () => Promise<void> | void;
  /** Adds a job and brings it to a state. @default a queued PDF under the default profile */
  add(job?: { fileName?: string; status?: JobState; profile?: string }): Promise<JobDetail>;
  send(id: JobId, ...messages: readonly Message[]): Promise<void>;
  /** Adds a job whose actor has been given up; returns its id. */
  stopActor(): Promise<JobId>;
  /** Completes a queued job with an output of these bytes. */
  finish(
    id: JobId,
    bytes: Uint8Array,
    fileName?: string,
  ): Promise<{ readonly path: string; readonly sha256: string }>;
  remove(): Promise<void>;
}

let pool: SigningPool | undefined;

/** The threads of all services of this process, which take seconds to start. */
function poolOf(layout: StorageLayout): SigningPool {
  const setup = { ...layout, faults: '', profiles: [], trust: NO_TRUST, encryptionKey: undefined };
  pool ??= new SigningPool({ threads: 1, clock: systemClock, log: SILENT, setup });
  return pool;
}

export async function openTestService(
  options: Partial<BatchOptions> = {},
  clock: Clock = systemClock,
  given?: MemoryStore,
): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-http-'));
  const layout = storageLayout(folder);
  createStorageFolders(layout, []);
  const store = given ?? new MemoryStore();
  const name = (text: string) => text as ProfileName;
  const actors = new ActorCalls();
  const common = { actors, store, clock, ids: systemIds, log: SILENT, faults: new Faults() };
  const plan = await planBatch(
    {
      layout,
      folders: [
        {
          name: 'default' as FolderName,
          path: layout.input,
          profile: name('default'),
          budget: 10,
          settings: {
            stability: { intervalMs: 50, requiredSamples: 2, timeoutMs: 10_000 },
            concurrency: 4,
            recursive: false,
            sweepIntervalMs: 5_000,
            ignoredExtensions: ['.part'],
            ignoredPrefixes: ['.'],
          },
        },
      ],
      profiles: [
        { ...LOCAL, name: name('default'), certificate: 'Pfx CN=Signer', facts: FACTS },
        { ...LOCAL, name: name('invoices'), certificate: 'Pfx CN=Signer', facts: FACTS },
        { ...BASE, name: name('contracts'), method: 'RemoteSigner', participant: PERSON },
      ],
      maxConcurrency: 4,
      pollEvery: 500,
      outputCollision: 'suffix',
      threads: 1,
      ...options,
    },
    common,
    poolOf(layout),
  );
  const runtime = await createRuntime({
    ...common,
    actors: plan.definitions,
    handlers: plan.handlers,
    calls: actors,
    start: 'later',
    deadLetters: false,
    onCommitted: (step, isOwn) => {
      opened?.inspection.changes.observe();
      plan.observe(step, isOwn);
    },
  });
  let opened: Batch | undefined;
  const batch = await plan.open(runtime);
  opened = batch;
  // As the start of the pipeline does.
  await actors.create(PIPELINE, PIPELINE_ID);
  const { uploads } = batch.jobs;
  const openUpload = uploads.openUpload.bind(uploads);
  uploads.openUpload = (...given) => {
    service.opened += 1;
    return openUpload(...given);
  };
  const acceptUpload = uploads.acceptUpload.bind(uploads);
  uploads.acceptUpload = async (...given) => {
    await service.accepting();
    return acceptUpload(...given);
  };
  const send: TestService['send'] = async (id, ...messages) => {
    for (const message of messages)
      await accepted(
        actors.send(JOB, id, message),
        ({ reason }) => new Error(`${message.type} was refused: ${reason}`),
      );
  };
  const service: TestService = Object.assign(batch, {
    folder,
    input: layout.input,
    actors,
    opened: 0,
    accepting: () => {},
    send,
    runEffects: () => runtime.start(),
    async add({ fileName = 'a.pdf', status = 'Queued', profile }: Parameters<TestService['add']>[0] = {}) {
      const sink = await uploads.openUpload(fileName);
      await sink.write(Buffer.from('%PDF-1.7 test'));
      const plan = uploads.plan({ fileName, format: undefined, profile });
      const { id } = await uploads.acceptUpload(sink, { fileName, ...plan });
      await send(id, ...WAYS[status]);
      return batch.jobs.get(id);
    },
    async stopActor() {
      const { id } = await service.add();
      // The machine expects a text.
      const broken = { type: 'CANCEL', reason: 5 as never } as const;
      for (let tries = 0; (await batch.inspection.stoppedActors()).stopped === 0; tries += 1) {
        if (tries === 20) throw new Error('The actor is not given up after 20 failures.');
        await actors.send(JOB, id, broken).catch(() => {});
      }
      return id;
    },
    async finish(id: JobId, bytes: Uint8Array, fileName = `${randomUUID()}.signed.pdf`) {
      const path = join(layout.output, fileName);
      await writeFile(path, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const signed = { sha256, length: bytes.length };
      await send(
        id,
        { type: 'CLAIM' },
        { type: 'SIGNED', input: STAGED, signed },
        { type: 'RELEASED', outputFileName: fileName },
        { type: 'TIDIED', diverged: false },
      );
      return { path, sha256 };
    },
    async remove() {
      await batch.drain(0);
      await runtime.stop({ graceMs: 0 });
      if (given === undefined) await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  });
  return service;
}

type MethodsOf<Part> = {
  [Name in keyof Part]: Part[Name] extends (...given: never) => unknown ? Name : never;
}[keyof Part];
type ArgumentsOf<Part, Name extends keyof Part> = Part[Name] extends (...given: infer All) => unknown
  ? All
  : never;

/** The arguments of every later call of a method, which still does its work. */
export function callsOf<Part extends object, Name extends MethodsOf<Part>>(part: Part, name: Name) {
  const calls: ArgumentsOf<Part, Name>[] = [];
  const method = part[name] as (...given: unknown[]) => unknown;
  Object.assign(part, {
    [name](...given: unknown[]) {
      calls.push(given as ArgumentsOf<Part, Name>);
      return method.apply(part, given);
    },
  });
  return calls;
}
