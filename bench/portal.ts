/**
 * What the portal manages: flows a second from upload to Concluded over HTTP, beside the RSA signatures the same
 * machine can make; then how long a list and a detail take with very many documents stored, asked at a fixed rate, so
 * that a slow answer counts for everybody who came meanwhile. The run fails when a signed file does not verify.
 *
 * Run: `node dist/bench/portal.js [--flows 400] [--at-once 16] [--documents 100000]`
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { storageLayout } from '../actors/index.ts';
import { documentDefinition } from '../actors/portal/document-index.ts';
import { verifyFile } from '../crypto/index.ts';
import type { DocumentContext } from '../machines/document-context.ts';
import type { DocumentId } from '../machines/ids.ts';
import { withCensus } from '../runtime/census.ts';
import { openLmdbStore, type Step, type StoredActor, systemClock, systemIds } from '../runtime/index.ts';
import { opensslSpeed } from './measure.ts';
import { samplePdf } from './samples.ts';

const { values } = parseArgs({
  options: {
    flows: { type: 'string', default: '400' },
    'at-once': { type: 'string', default: '16' },
    documents: { type: 'string', default: '100000' },
  },
});
const flows = Number(values.flows);
const atOnce = Number(values['at-once']);
const documents = Number(values.documents);

/** Steps committed together while the store is filled. */
const SEED_GROUP = 2000;
/** Requests a second, and for how many seconds. */
const RATE = 100;
const SECONDS = 10;

const root = await mkdtemp(join(tmpdir(), 'sealwright-bench-portal-'));
try {
  const first = await startProgram();
  const pdf = samplePdf(28_000, 'portal');
  await Promise.all(Array.from({ length: 4 }, () => flow(first, pdf)));
  const times: number[] = [];
  let left = flows;
  const started = systemClock.elapsed();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left > 0) {
        left -= 1;
        const begun = systemClock.elapsed();
        await flow(first, pdf);
        times.push(systemClock.elapsed() - begun);
      }
    }),
  );
  const rate = flows / ((systemClock.elapsed() - started) / 1000);
  const rsa = opensslSpeed('rsa2048', 2);
  console.log(`flows of one signer, ${atOnce} at once: ${rate.toFixed(1)}/s`);
  console.log(`  one flow: ${quantiles(times)}`);
  if (rsa) console.log(`  openssl speed rsa2048, one core: ${rsa.toFixed(0)}/s`);
  const id = await flow(first, pdf);
  await checkSignature(first, id);
  first.child.kill('SIGTERM');
  await first.ended;

  const seeded = systemClock.elapsed();
  await seed(id);
  console.log(`${documents} documents stored in ${((systemClock.elapsed() - seeded) / 1000).toFixed(0)} s`);

  const begun = systemClock.elapsed();
  const second = await startProgram();
  console.log(`started over them in ${((systemClock.elapsed() - begun) / 1000).toFixed(1)} s`);
  const questions: readonly (readonly [string, string])[] = [
    ['detail', `/api/documents/${id}`],
    ['list, first page', '/api/documents?Limit=20&Order=Desc'],
    ['list by status', '/api/documents?Status=Concluded&Limit=20&Offset=50'],
    ['list by participant', '/api/documents?ParticipantQ=p77@example.org&ParticipantQueryType=Email'],
  ];
  for (const [name, path] of questions) {
    const answered = await askAtRate(second, path);
    console.log(`${name.padEnd(20)} ${RATE}/s asked: ${quantiles(answered)}`);
  }
  second.child.kill('SIGTERM');
  await second.ended;
} finally {
  await rm(root, { recursive: true, force: true });
}

interface Program {
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
  readonly ended: Promise<unknown>;
}

async function startProgram(): Promise<Program> {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  const settings = [`--Storage:Root=${root}`, '--Batch:Enabled=false', '--Portal:Url=http://127.0.0.1:0'];
  const child = spawn(process.execPath, [main, 'serve', ...settings], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    ended.then(() => reject(new Error(printed)));
    child.stdout?.on('data', (piece: Buffer) => {
      printed += piece.toString();
      const found = /Portal\s+(http:\S+)/.exec(printed)?.[1];
      if (found && printed.includes('Ready')) resolve(found);
    });
  });
  const secret = await readFile(join(root, 'keys', 'portal-application-secret'), 'utf8');
  return { child, url, key: `default|${secret.trim()}`, ended };
}

async function ask<Body>(program: Program, path: string, body?: unknown): Promise<Body> {
  const json = body !== undefined && !(body instanceof FormData);
  const response = await fetch(`${program.url}${path}`, {
    ...(body !== undefined && { method: 'POST', body: json ? JSON.stringify(body) : (body as FormData) }),
    headers: { 'X-Api-Key': program.key, ...(json && { 'content-type': 'application/json' }) },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
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
  while ((await detail()).status !== 'Concluded') await systemClock.sleep(5);
  return document;
}

async function checkSignature(program: Program, id: string): Promise<void> {
  const response = await fetch(`${program.url}/api/documents/${id}/content?type=Signatures`, {
    headers: { 'X-Api-Key': program.key },
  });
  const path = join(root, 'signed.pdf');
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
  const report = verifyFile({ format: 'Pades', path, at: systemClock.now() });
  if (!report.ok) throw new Error(`The signed file does not verify: ${JSON.stringify(report.checks)}`);
}

/** Stores copies of a document under fresh ids and keys, with all the rows they would have. */
async function seed(id: string): Promise<void> {
  const store = openLmdbStore({ folder: storageLayout(root).db });
  const model = await store.load({ kind: 'document', id });
  if (model === undefined) throw new Error('The document is not stored.');
  for (let done = 0; done < documents; done += SEED_GROUP) {
    const count = Math.min(SEED_GROUP, documents - done);
    await Promise.all(Array.from({ length: count }, (_, n) => store.commit(copyOf(model, done + n))));
  }
  await store.close();
}

function copyOf(model: StoredActor, n: number): Step {
  const id = systemIds.uuid() as DocumentId;
  const before = model.context as unknown as DocumentContext;
  const context = {
    ...before,
    id,
    key: systemIds.bytes(10).toString('hex').toUpperCase(),
    order: before.order - 1 - n,
    name: `Contract ${n}`,
    actions: before.actions.map((action) => ({
      ...action,
      user: action.user && { ...action.user, email: `p${n % 5000}@example.org` },
    })),
  };
  const actor: StoredActor = {
    ...model,
    address: { kind: 'document', id },
    revision: 1,
    context: context as never,
    journalLength: 0,
  };
  const view = { id, state: actor.state, context };
  const facts = {
    rows: { put: documentDefinition.rows?.(view) ?? [], remove: [] },
    counters: documentDefinition.counters?.(view) ?? {},
  };
  return {
    actor,
    basedOn: 0,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: { arm: [], disarm: [] },
    names: { take: documentDefinition.names?.(view) ?? [], release: [] },
    ...withCensus(facts, undefined, actor),
  };
}

/** Each request has its time; how long it took is counted from then. */
async function askAtRate(program: Program, path: string): Promise<number[]> {
  await ask(program, path);
  const times: number[] = [];
  const started = systemClock.elapsed();
  await Promise.all(
    Array.from({ length: RATE * SECONDS }, async (_, n) => {
      const due = started + (n * 1000) / RATE;
      await systemClock.sleep(Math.max(0, due - systemClock.elapsed()));
      await ask(program, path);
      times.push(systemClock.elapsed() - due);
    }),
  );
  return times;
}

function quantiles(times: readonly number[]): string {
  const sorted = [...times].sort((left, right) => left - right);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, p99.9 ${at(0.999)} ms, longest ${at(1)} ms`;
}
