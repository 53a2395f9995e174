/**
 * Counts the product's files and functions that run for one upload until its output is published, and for one
 * electronic signature until the document is concluded. Starts the program on a new folder, with the precise coverage
 * of V8 in each thread; what also runs while nobody asks for anything is subtracted.
 *
 * node scripts/measure/walks.mjs [--list]   prints a table; with --list also each file and its functions
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = process.env.SEALWRIGHT_WALKS;
/** Time in which a quiet service has done whatever it does now and then, milliseconds. */
const QUIET_MS = 12_000;

/** Source maps that were read, by the path of the compiled file. */
const maps = new Map();

if (FOLDER !== undefined) observeThread(FOLDER);
else await measure();

/** Inside the program: writes the functions called since the last request into a file, at each request. */
function observeThread(folder) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const channel = new BroadcastChannel('walks');
  const take = (number) =>
    session.post('Profiler.takePreciseCoverage', (_, { result }) => {
      const called = result
        .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'))
        .flatMap(({ url, functions }) =>
          functions
            .filter(({ ranges: [{ count, startOffset }] }) => count > 0 && startOffset > 0)
            .map(({ functionName, ranges: [{ startOffset }] }) => [url, startOffset, functionName]),
        );
      writeFileSync(join(folder, `${number}-${threadId}.json`), JSON.stringify(called));
    });
  channel.onmessage = ({ data }) => take(data);
  channel.unref();
  if (!isMainThread) return;
  let number = 0;
  process.on('SIGUSR2', () => {
    number += 1;
    channel.postMessage(number);
    take(number);
  });
}

async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'walks-'));
  const root = join(folder, 'data');
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'dist/main.js'),
      'serve',
      `--Storage:Root=${root}`,
      '--Batch:Url=http://127.0.0.1:0',
      '--Portal:Url=http://127.0.0.1:0',
    ],
    {
      env: {
        ...process.env,
        SEALWRIGHT_WALKS: folder,
        NODE_OPTIONS: `--import=${import.meta.url}`,
        // Idle threads of the pool would sleep where no message reaches them.
        PISCINA_DISABLE_ATOMICS: '1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const url = (api) => new RegExp(`${api}\\s+(http://127\\.0\\.0\\.1:\\d+)`).exec(printed)?.[1];
    await until('the start', () => url('Batch API') && url('Portal'));
    const secret = (name) => readFileSync(join(root, 'keys', name), 'utf8').trim();
    const batch = caller(url('Batch API'), { 'X-API-Key': secret('api-key') });
    const portal = caller(url('Portal'), {
      'X-Api-Key': `default|${secret('portal-application-secret')}`,
    });
    let number = 0;
    const take = async () => {
      number += 1;
      child.kill('SIGUSR2');
      await sleep(2_000);
      const files = readdirSync(folder).filter((name) => name.startsWith(`${number}-`));
      return files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
    };
    const pdf = samplePdf();
    // Once for what only a first request does.
    await upload(batch, pdf);
    await signature(portal, pdf, take);
    await take();
    await sleep(QUIET_MS);
    const idle = new Set((await take()).map(([url, offset]) => `${url}@${offset}`));
    await upload(batch, pdf);
    const walks = { 'one upload to its published output': await take() };
    walks['one electronic signature to the concluded document'] = await signature(portal, pdf, take);
    for (const [title, called] of Object.entries(walks)) print(title, called, idle);
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.on('exit', resolve));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function upload(batch, pdf) {
  const form = new FormData();
  form.set('files', new Blob([pdf], { type: 'application/pdf' }), 'sample.pdf');
  const { jobId } = await batch('POST', '/api/files', form);
  await until('the output', async () => (await batch('GET', `/api/jobs/${jobId}`)).status === 'Completed');
}

/** Resolves with what ran from the signature to the concluded document. */
async function signature(portal, pdf, take) {
  const email = 'ana@example.com';
  const { id } = await portal('POST', '/api/uploads/bytes', { bytes: pdf.toString('base64') });
  const [{ documentId }] = await portal('POST', '/api/documents', {
    files: [{ id, displayName: 'Sample', name: 'sample.pdf', contentType: 'application/pdf' }],
    flowActions: [{ type: 'Signer', allowElectronicSignature: true, user: { name: 'Ana Example', email } }],
    disablePendingActionNotifications: true,
  });
  const { url } = await portal('POST', `/api/documents/${documentId}/action-url`, {
    emailAddress: email,
    requireEmailAuthentication: false,
  });
  const page = new URL(url);
  const [, key] = /\/key\/([^/]+)\//.exec(page.pathname);
  await sleep(3_000);
  await take();
  await portal('POST', `/api/documents/keys/${key}/electronic-signature`, {
    ticket: page.searchParams.get('ticket'),
    typedName: 'Ana Example',
  });
  const concluded = async () => (await portal('GET', `/api/documents/${documentId}`)).status === 'Concluded';
  await until('the conclusion', concluded);
  return take();
}

/** A page with nothing on it. */
function samplePdf() {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources << >> >>',
  ];
  let text = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const xref = text.length;
  const lines = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 4\n0000000000 65535 f \n${lines}trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

/** Sends requests with the given headers; rejects unless they succeed. */
function caller(url, headers) {
  return async (method, path, body) => {
    const isJson = body !== undefined && !(body instanceof FormData);
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(isJson && { 'content-type': 'application/json' }) },
      body: isJson ? JSON.stringify(body) : body,
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json().catch(() => undefined);
  };
}

async function until(what, look) {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await look();
    if (found) return found;
    await sleep(100);
  }
  throw new Error(`Waited 30 s for ${what}.`);
}

function print(title, called, idle) {
  const functions = new Map();
  for (const [url, offset, name] of called) {
    const key = `${url}@${offset}`;
    if (!idle.has(key)) functions.set(key, { url, offset, name });
  }
  const files = new Map();
  for (const { url, offset, name } of functions.values()) {
    const source = sourceOf(url, offset);
    if (!/^[^.]+\.tsx?$/.test(source)) continue;
    files.set(source, [...(files.get(source) ?? []), name || '(anonymous)']);
  }
  const total = [...files.values()].reduce((sum, names) => sum + names.length, 0);
  const zones = new Map();
  for (const file of files.keys()) {
    const [zone] = file.split('/');
    zones.set(zone, (zones.get(zone) ?? 0) + 1);
  }
  const shown = [...zones].sort(([, a], [, b]) => b - a).map(([zone, count]) => `${zone} ${count}`);
  console.log(`${title}: ${files.size} files (${shown.join(', ')}), ${total} functions`);
  if (!process.argv.includes('--list')) return;
  for (const [file, names] of [...files].sort()) console.log(`  ${file}: ${names.join(' ')}`);
}

/** Path of the source, from the root, of a function in a compiled or bundled file. */
function sourceOf(url, offset) {
  const path = fileURLToPath(url);
  if (!maps.has(path)) {
    const text = readFileSync(path, 'utf8');
    const starts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    maps.set(path, { starts, map: new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8'))) });
  }
  const { starts, map } = maps.get(path);
  const line = starts.findLastIndex((start) => start <= offset);
  const { originalSource } = map.findEntry(line, offset - starts[line]);
  return originalSource === undefined
    ? relative(ROOT, path)
    : relative(ROOT, join(dirname(path), originalSource));
}
