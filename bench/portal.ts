/**
 * What the portal manages: flows a second from upload to Concluded over HTTP; then how long a list and a detail take with
 * very many documents stored, asked at a fixed rate, so that a slow answer counts for everybody who came meanwhile.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyFile } from '../crypto/index.ts';
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { opensslSpeed } from './frame/limits.ts';
import { atRate, type Ending } from './frame/pace.ts';
import { usedFor } from './frame/processes.ts';
import { storeCopies } from './portal-documents.ts';
import { type Program, startProgram } from './program.ts';
import { samplePdf } from './samples.ts';

/** Flows under way at once. */
const AT_ONCE = 16;
/** Lists and details asked for in a second. */
const RATE = 100;
/** Files a run signs at least, however short it is. */
const LEAST_FLOWS = 20;

export const bench: Bench = {
  name: 'portal',
  question: 'flows a second from upload to Concluded, and lists and details over very many documents',
  limits: ['`openssl speed rsa2048` on one core: one signature seals a flow of one signer'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { documents, seconds } = context.settings;
  const root = context.room();
  const settings = { 'Batch:Enabled': false };
  const first = await startProgram(context, root, settings);
  const model = await flows(first, context);
  await first.stop();

  context.progress('storing documents', 0, documents);
  await storeCopies(root, model, documents, (done) => context.progress('storing documents', done, documents));
  const begun = performance.now();
  const second = await startProgram(context, root, settings);
  context.figure({
    name: `started over ${documents} documents`,
    value: (performance.now() - begun) / 1000,
    unit: 's',
    better: 'less',
  });
  const questions: readonly (readonly [string, string])[] = [
    ['detail', `/api/documents/${model}`],
    ['list, first page', '/api/documents?Limit=20&Order=Desc'],
    ['list by status', '/api/documents?Status=Concluded&Limit=20&Offset=50'],
    ['list by participant', '/api/documents?ParticipantQ=p77@example.org&ParticipantQueryType=Email'],
  ];
  for (const [n, [name, path]] of questions.entries()) {
    context.progress(name, n, questions.length);
    const before = second.spent();
    const pace = { perSecond: RATE, seconds: seconds * 5, warmUp: seconds };
    const latency = await atRate(context.clock, pace, () => isAnswered(second, path));
    context.figure({
      name: `${name}, p99 over ${documents} documents`,
      value: latency.p99,
      unit: 'ms',
      better: 'less',
      latency,
      ...usedFor(RATE * seconds * 6, before, second.spent()),
    });
  }
  await second.stop();
}

/** Measures flows; gives the id of one that is concluded and was found good. */
async function flows(program: Program, context: BenchContext): Promise<string> {
  const { seconds, damage } = context.settings;
  const pdf = samplePdf(28_000, 'portal');
  const rsa = opensslSpeed('rsa2048', seconds);
  const limit = 'openssl speed rsa2048';
  if (rsa) context.limit({ name: limit, value: rsa, unit: '/s' });
  await Promise.all(Array.from({ length: 4 }, () => flow(program, pdf)));
  const recorder = new LatencyRecorder();
  const made: string[] = [];
  const length = seconds * 10_000;
  const before = program.spent();
  const begun = performance.now();
  const tellTime = () => {
    const passed = Math.min(performance.now() - begun, length);
    context.progress('seconds of flows', Math.floor(passed / 1000), Math.ceil(length / 1000));
  };
  tellTime();
  const goesOn = () => performance.now() - begun < length || made.length < LEAST_FLOWS;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (goesOn()) {
        const from = performance.now();
        made.push(await flow(program, pdf));
        recorder.record(performance.now() - from);
        tellTime();
      }
    }),
  );
  const rate = (made.length / (performance.now() - begun)) * 1000;
  context.figure({
    name: `flows of one signer, ${AT_ONCE} at once`,
    value: rate,
    unit: '/s',
    better: 'more',
    latency: recorder.latency(),
    limit,
    ...usedFor(made.length, before, program.spent()),
  });
  const path = join(context.room(), 'signed.pdf');
  for (const [n, id] of made.entries()) {
    context.progress('verifying', n, made.length);
    await mustVerify(program, id, path, context.clock.now(), damage);
  }
  context.verified('the engine', made.length);
  const [model] = made;
  if (model === undefined) throw new Error('No flow ended.');
  return model;
}

async function ask<Body>({ portal, portalKey }: Program, path: string, body?: unknown): Promise<Body> {
  const json = body !== undefined && !(body instanceof FormData);
  const response = await fetch(`${portal}${path}`, {
    ...(body !== undefined && { method: 'POST', body: json ? JSON.stringify(body) : (body as FormData) }),
    headers: { ...portalKey, ...(json && { 'content-type': 'application/json' }) },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

async function isAnswered({ portal, portalKey }: Program, path: string): Promise<Ending> {
  const response = await fetch(`${portal}${path}`, { headers: portalKey });
  const text = await response.text();
  if (response.status === 503) return 'refused';
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return 'done';
}

/** Upload, creation, electronic signature, Concluded. */
async function flow(program: Program, pdf: Buffer): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(pdf)], { type: 'application/pdf' }), 'contract.pdf');
  const { id, name, contentType } = await ask<{ id: string; name: string; contentType: string }>(
    program,
    '/api/uploads',
    form,
  );
  const [created] = await ask<{ documentId: string }[]>(program, '/api/documents', {
    files: [{ displayName: 'Contract', id, name, contentType }],
    flowActions: [
      { type: 'Signer', user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true },
    ],
    disableNotifications: true,
  });
  const document = created?.documentId ?? '';
  const detail = () =>
    ask<{ status: string; flowActions: { id: string }[] }>(program, `/api/documents/${document}`);
  const flowActionId = (await detail()).flowActions[0]?.id;
  await ask(program, `/api/documents/${document}/electronic-signature`, { flowActionId });
  while ((await detail()).status !== 'Concluded') await new Promise((resolve) => setTimeout(resolve, 5));
  return document;
}

async function mustVerify(
  { portal, portalKey }: Program,
  id: string,
  path: string,
  at: number,
  damage: boolean,
): Promise<void> {
  const response = await fetch(`${portal}/api/documents/${id}/content?type=Signatures`, {
    headers: portalKey,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (damage) bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  await writeFile(path, bytes);
  const { ok, checks } = verifyFile({ format: 'Pades', path, at });
  const failed = checks.filter((check) => !check.ok).map(({ detail }) => detail);
  if (!ok) throw new Unverified(`The signed file of document ${id} does not verify: ${failed.join(' ')}`);
}
