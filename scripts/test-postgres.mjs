/**
 * `npm run test:postgres`: runs suites that drive a whole service with its actors in PostgreSQL. Starts a server of its own
 * in a temporary folder and ends it afterwards. Arguments are test files; without any, the suites below.
 * SEALWRIGHT_NODES=3: each service of the suites is three nodes behind a TCP balancer.
 * SEALWRIGHT_POOLER=1: they reach the server through pgbouncer in transaction mode.
 * SEALWRIGHT_BUCKET=1, with nodes: these keep their files in a bucket, and each has a folder of its own.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startRadosgw } from '../dist/test/actors/shared/objects/radosgw.js';
import { startPooler, startServer } from '../dist/test/postgres/cluster.js';

const SUITES = [
  'contract/postgres-store',
  'postgres/*',
  'runtime/effects/messages',
  'service/{bad-input,effects-under-load,folders,kill,main-job,metrics,session,stop}',
  'actors/batch/**/{batch,job-races,pipeline,recovery,folders,recursive-folders,upload-idempotency}',
  'actors/portal/{documents,drafts,signing}/*',
  'http/portal/{attachments,audit-trail,audit-trail-kill,creation-options,isolation,key-scopes,named-folders,nonsense,program}',
  'http/portal/accounts/*',
  'http/portal/kills/{deputies,passing-on,waiting}',
  'http/portal/links/public-links-kill',
  'http/portal/lists/*',
  'http/portal/{kills/{erasure,retention},retention/{erasure,retention-pages}}',
  'http/portal/requests/{drafts,editor-sessions,examples,field-attachments,field-edits,text-tags}',
  'http/portal/requests/{branding,folder-keys,observers,reminders,reminders-kill,saved-flow-documents,templates*}',
  'http/portal/signing/*',
  'browser/account/{sender,link-visits}',
  'browser/portal-whole',
  'browser/portal/{deputies,fields,signed}',
];

/**
 * Suites whose services may be several nodes: they make no assumption about which one does the work. Out of this list:
 * - suites in the process of the test, which has one node: `actors`, `http/portal/requests` with a clock set forward
 *   (`branding`, `folder-keys`, `observers`, `reminders*`, `saved-flow-documents`, `templates`, `templates-document`);
 * - suites on services in memory, without a store: `http/batch`, `http/core`, browser suites on `pages-server.ts`;
 * - suites that read the store of LMDB, the memory or the metrics of one process: `service/{metrics,jobs-at-scale,shards}`,
 *   `commands`, `browser/operator-nodes`.
 */
const SUITES_OF_NODES = [
  'service/{kill,main-job,session}',
  'http/portal/{attachments,creation-options,isolation,key-scopes,named-folders,program}',
  'http/portal/accounts/*',
  'http/portal/lists/{client,document-lists,document-packages}',
  'http/portal/requests/{drafts,editor-sessions,examples,field-attachments,field-edits,templates-bulk,text-tags}',
  'http/portal/audit-trail',
  'http/portal/signing/{concurrent-signatures,own-signatures}',
  'browser/account/{sender,link-visits}',
  'browser/portal-whole',
  'browser/portal/signed',
];

/** Services with a database start slowly on a busy machine: ava ends a run in which no test ends for so long. */
const TIMEOUT = '--timeout=5m';

const hasNodes = Number(process.env.SEALWRIGHT_NODES ?? 1) > 1;
const suites = hasNodes ? SUITES_OF_NODES : SUITES;
const files = process.argv.slice(2);
const server = await startServer();
if (server === undefined) {
  console.error('PostgreSQL 15 or newer is missing. On Debian: apt-get install -y postgresql');
  process.exit(3);
}
/** Tasks that end what was started, the last one first. */
const tasks = [() => server.remove()];
const pooler =
  process.env.SEALWRIGHT_POOLER === '1' ? await startPooler(server, ['default_pool_size = 40']) : undefined;
if (pooler) tasks.push(() => pooler.remove());
else if (process.env.SEALWRIGHT_POOLER === '1')
  await giveUp('pgbouncer is missing. On Debian: apt-get install -y pgbouncer');
const bucket = process.env.SEALWRIGHT_BUCKET === '1' ? await startBucket() : undefined;
const { url } = pooler ?? server;
const ava = fileURLToPath(new URL('../node_modules/ava/entrypoints/cli.mjs', import.meta.url));
const child = spawn(
  process.execPath,
  [ava, TIMEOUT, ...(files.length > 0 ? files : suites.map((suite) => `dist/test/${suite}.test.js`))],
  {
    stdio: 'inherit',
    env: {
      SEALWRIGHT_TESTS: 'all',
      ...process.env,
      SEALWRIGHT_POSTGRES_URL: url,
      ...(bucket && { SEALWRIGHT_BUCKET_AT: JSON.stringify(bucket) }),
    },
  },
);
// The server ends after the tests, also when they are interrupted.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const code = await new Promise((resolve) => child.on('exit', (exit) => resolve(exit ?? 1)));
await endAll();
process.exit(code);

async function endAll() {
  for (const task of tasks.reverse()) await task();
}

async function giveUp(reason) {
  if (reason) console.error(reason);
  await endAll();
  process.exit(3);
}

async function startBucket() {
  if (!hasNodes)
    await giveUp(
      'SEALWRIGHT_BUCKET=1 needs SEALWRIGHT_NODES=3: suites in the process of the test have no bucket.',
    );
  const found = await startRadosgw({
    teardown: (task) => tasks.push(task),
    log: console.error,
    pass() {},
    fail: console.error,
  });
  if (found === undefined) await giveUp();
  return found.bucket();
}
