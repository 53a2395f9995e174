/**
 * Measures how long health checks of both services take while callers send bodies, tables and files that are costly to judge.
 *
 * Start a service with `RateLimiting:Enabled=false`, then:
 * node scripts/measure-health.mjs --batch http://127.0.0.1:8080 --portal http://127.0.0.1:8090 --root data [--seconds 20]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Pause between two health checks, milliseconds. */
const EVERY_MS = 20;

if (isMainThread) await measure();
else await watchHealth(workerData);

async function measure() {
  const { values } = parseArgs({
    options: {
      batch: { type: 'string', default: 'http://127.0.0.1:8080' },
      portal: { type: 'string', default: 'http://127.0.0.1:8090' },
      root: { type: 'string', default: 'data' },
      seconds: { type: 'string', default: '20' },
    },
  });
  const { batch, portal, root } = values;
  const secret = (name) => readFileSync(join(root, 'keys', name), 'utf8').trim();
  const batchKey = { 'X-API-Key': secret('api-key') };
  const portalKey = { 'X-Api-Key': `default|${secret('portal-application-secret')}` };
  const send = (url, body, headers) =>
    fetch(url, { method: 'POST', body, headers }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => 0,
    );
  const json = { 'content-type': 'application/json' };
  const marks = `{"ticket":"x","signaturePositions":[${'{},'.repeat(18_000)}{}]}`.padEnd(4_000_000);
  const columns = Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`c${at}`, 1]));
  const rows = Array.from({ length: 1_000 }, (_, row) =>
    Object.fromEntries(Object.keys(columns).map((name) => [`${name}r${row}`, 1])),
  );
  const table = new Blob([JSON.stringify(rows)], { type: 'application/json' });
  const broken = new Blob([`%PDF-1.7\n${'1 0 obj << /A [ '.repeat(4_000_000)}`]);
  const form = (field, blob, name) => {
    const made = new FormData();
    made.append(field, blob, name);
    return made;
  };
  const upload = async (blob, name) => {
    const answer = await fetch(`${portal}/api/uploads`, {
      method: 'POST',
      body: form('file', blob, name),
      headers: portalKey,
    });
    return (await answer.json()).id;
  };
  const generate = async (data) => {
    const file = async (blob, name) => ({ id: await upload(blob, name), name, contentType: blob.type });
    const flowActions = [{ type: 'Signer', user: { name: 'Ana', email: 'ana@example.com' } }];
    const templateFile = await file(new Blob(['Hello'], { type: 'text/plain' }), 'letter.txt');
    const dataFile = await file(data, 'table.json');
    const body = JSON.stringify({ templateFile, dataFile, flowActions });
    return send(`${portal}/api/documents/generation`, body, { ...portalKey, ...json });
  };
  const action = `${portal}/api/documents/keys/ABCDEFGHJKLMNPQRSTUV/electronic-signature`;
  const attacks = {
    'nothing else': undefined,
    'four bodies of 4 MB at a time, without a key': () =>
      Promise.all([1, 2, 3, 4].map(() => send(action, marks, json))),
    'a table of 130,000 columns': () => generate(table),
    'two broken PDFs of 60 MB at a time': () =>
      Promise.all([1, 2].map(() => send(`${batch}/api/validate`, form('file', broken, 'b.pdf'), batchKey))),
  };
  for (const [name, attack] of Object.entries(attacks)) {
    const watcher = new Worker(new URL(import.meta.url), { workerData: [batch, portal] });
    const end = performance.now() + Number(values.seconds) * 1000;
    const statuses = {};
    while (performance.now() < end) {
      const answers = attack === undefined ? [] : [await attack()].flat();
      for (const status of answers) statuses[status] = (statuses[status] ?? 0) + 1;
      if (attack === undefined) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    watcher.postMessage('stop');
    const { times, failures } = await new Promise((resolve) => watcher.once('message', resolve));
    times.sort((one, other) => one - other);
    const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))]?.toFixed(0);
    const latency = `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`;
    process.stdout.write(
      `${name}: ${times.length} checks, ${latency}, ${failures} failed; answers ${JSON.stringify(statuses)}\n`,
    );
  }
}

/** Runs on a thread of its own, so that what the attack costs its sender is not counted. */
async function watchHealth(urls) {
  const times = [];
  let failures = 0;
  let stopped = false;
  parentPort.once('message', () => {
    stopped = true;
  });
  while (!stopped) {
    for (const url of urls) {
      const began = performance.now();
      const isGood = await fetch(`${url}/api/health`).then(
        async (answer) => answer.ok && (await answer.arrayBuffer()) !== undefined,
        () => false,
      );
      times.push(performance.now() - began);
      if (!isGood) failures += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  parentPort.postMessage({ times, failures });
  parentPort.close();
}
