#!/usr/bin/env node
/**
 * Refreshes trusted lists of the sizes in use (31 national lists, 28 MB) from an https server on loopback, while threads judge
 * signatures by what is kept, and prints times, memory and verdicts. Needs a build with tests.
 *
 *   node scripts/measure/trust-list-refresh.mjs [<refreshes>]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const DIST = '../../dist';
const ENGINE = '../../crypto/dist';
const OWN = fileURLToPath(import.meta.url);
/** Time after which the server answers, milliseconds: as one in another country. */
const ANSWER_MS = 300;
/** Threads that judge. */
const JUDGES = 2;
/** Megabytes of the national lists, the largest first, as measured in 2026. */
const SIZES = [
  5.1, 4.4, 3.2, 2.4, 1.6, 1.2, 1.0, 0.9, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.4, 0.35, 0.35,
  0.3, 0.3, 0.25, 0.25, 0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05,
];
const COUNTRIES =
  'BE DE IT ES FR PT PL HU RO BG CZ SK SI HR AT NL LU LV LT EE FI SE DK IE EL CY MT NO IS LI UK'.split(' ');

if (!isMainThread) await judge(workerData);
else if (process.env.SEALWRIGHT_MEASURE === undefined) begin();
else await measure(process.env.SEALWRIGHT_MEASURE);

/** Starts again with a certificate that connections trust. */
function begin() {
  const folder = mkdtempSync(join(tmpdir(), 'trust-list-refresh-'));
  const key = join(folder, 'key.pem');
  const certificate = join(folder, 'certificate.pem');
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    certificate,
    ...subject,
  ]);
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate, SEALWRIGHT_MEASURE: folder };
  const { status } = spawnSync(process.execPath, [OWN, ...process.argv.slice(2)], { env, stdio: 'inherit' });
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = status ?? 1;
}

async function measure(folder) {
  const own = await import(`${DIST}/test/crypto/trust-lists/own-lists.js`);
  const { fingerprintOf } = await import(`${ENGINE}/x509/certificate.js`);
  const { signFile } = await import(`${ENGINE}/files/sign-file.js`);
  const lists = makeLists(own);
  const server = createServer(
    { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'certificate.pem')) },
    ({ url }, response) => setTimeout(() => response.end(lists.at(url)), ANSWER_MS),
  );
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  const origin = `https://localhost:${server.address().port}`;
  const location = `${origin}/eu-lotl.xml`;
  const place = {
    folder: join(folder, 'kept'),
    anchor: { location, journal: own.JOURNAL, signers: new Set([fingerprintOf(lists.scheme.certificate)]) },
  };
  const network = { allowPrivate: true, issuerHosts: [], timeoutMs: 30_000 };
  const options = { place, network, everyMs: 3_600_000 };
  const path = join(folder, 'signed.xml');
  const signer = lists.authority.issue(['compliance', 'signature', 'device'], {
    notBefore: Date.now() - 86_400_000,
  });
  signFile({ format: 'Xades', input: Buffer.from('<order/>'), output: path, signer, at: Date.now() });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  const before = process.memoryUsage().rss;
  const refresh = async (sequence) => {
    lists.issue(sequence, origin);
    const start = performance.now();
    const { kept, problems } = await refreshed(options);
    const seconds = (performance.now() - start) / 1000;
    console.log(
      `refresh ${sequence}: ${seconds.toFixed(1)} s, ${kept?.territories.length} lists, ${lists.megabytes()} MB, ${problems.length} problems`,
    );
    if (problems.length > 0) console.log(problems.slice(0, 3).join(' '));
  };
  await refresh(1);
  const judges = Array.from({ length: JUDGES }, () => new Worker(OWN, { workerData: { place, path } }));
  const counts = { judged: 0, wrong: 0 };
  for (const one of judges)
    one.on('message', ({ judged, wrong }) => {
      counts.judged += judged;
      counts.wrong += wrong;
    });
  const rate = async (work) => {
    const from = counts.judged;
    const start = performance.now();
    await work();
    return Math.round((counts.judged - from) / ((performance.now() - start) / 1000));
  };
  await sleep(5_000);
  const alone = await rate(() => sleep(5_000));
  const refreshes = Number(process.argv[2] ?? 4);
  const beside = await rate(async () => {
    for (let sequence = 2; sequence < 2 + refreshes; sequence++) await refresh(sequence);
  });
  for (const one of judges) await one.terminate();
  clearInterval(watch);
  server.close();
  server.closeAllConnections();
  const mega = (bytes) => Math.round(bytes / 2 ** 20);
  console.log(
    `${alone} judgements a second without, ${beside} beside refreshes (${(beside / alone).toFixed(2)})`,
  );
  console.log(`${counts.judged} judgements, ${counts.wrong} with another word than QESig or an older list`);
  console.log(`memory ${mega(before)} MB before, ${mega(peak)} MB at most, with ${JUDGES} judging threads`);
}

function refreshed(options) {
  const module = new URL(`${DIST}/actors/shared/trust-lists/list-worker.js`, import.meta.url);
  const worker = new Worker(module, {
    workerData: { options, at: Date.now() },
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

function makeLists({ authorityOf, listSigner, listText, lotlText, providerText, signList, LOCATION }) {
  const scheme = listSigner('scheme');
  const authority = authorityOf('BE');
  const others = Array.from({ length: 20 }, (_, index) =>
    authorityOf('BE', `Provider ${index}`, `CA ${index}`),
  );
  const filler = others.map(({ certificate }, index) =>
    providerText(certificate, [{}, {}], `Provider ${index}`),
  );
  const texts = COUNTRIES.map((_, index) => {
    let text = index === 0 ? providerText(authority.certificate) : '';
    for (let next = 0; text.length < SIZES[index] * 1e6; next++) text += filler[next % filler.length];
    return text;
  });
  const files = new Map();
  const nextUpdate = Date.now() + 90 * 86_400_000;
  return {
    scheme,
    authority,
    at: (url) => files.get(url),
    megabytes: () => ([...files.values()].reduce((sum, { length }) => sum + length, 0) / 1e6).toFixed(1),
    issue(sequence, origin) {
      const pointers = COUNTRIES.map((territory) => ({
        territory,
        signers: [scheme],
        location: `${origin}/${territory}.xml`,
      }));
      const lotl = lotlText([scheme], { pointers, sequence, nextUpdate });
      files.set('/eu-lotl.xml', signList(lotl.replaceAll(LOCATION, `${origin}/eu-lotl.xml`), scheme));
      for (const [index, territory] of COUNTRIES.entries()) {
        const text = listText({ territory, sequence, nextUpdate, providers: texts[index] });
        files.set(`/${territory}.xml`, signList(text, scheme));
      }
    },
  };
}

/** Judges one signature again and again by what is kept; a list never goes back to an older one. */
async function judge({ place, path }) {
  const { keptLists } = await import(`${ENGINE}/trust-lists/kept-lists.js`);
  const { validateFile } = await import(`${ENGINE}/files/validate-file.js`);
  const lists = keptLists(place, Date.now);
  let newest = 0;
  for (;;) {
    let wrong = 0;
    for (let index = 0; index < 20; index++) {
      const trust = { anchors: [], revocation: 'none', lists: lists() };
      const { signatures } = await validateFile({ format: 'Xades', path, trust, at: Date.now() });
      const { word, list } = signatures[0].qualification;
      if (word !== 'QESig' || list.sequence < newest) wrong++;
      newest = Math.max(newest, list?.sequence ?? 0);
    }
    parentPort.postMessage({ judged: 20, wrong });
    await sleep(0);
  }
}
