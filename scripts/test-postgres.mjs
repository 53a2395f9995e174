/**
 * `npm run test:postgres`: runs suites that drive a whole service with its actors in PostgreSQL. Starts a server of its own
 * in a temporary folder and ends it afterwards. Arguments are test files; without any, the suites below.
 * SEALWRIGHT_NODES=3: each service of the suites is three nodes behind a TCP balancer.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startServer } from '../dist/test/postgres/cluster.js';

const SUITES = [
  'contract/postgres-store',
  'postgres/*',
  'service/{bad-input,folders,kill,main-job,metrics,session,stop}',
  'actors/batch/**/{batch,job-races,pipeline,recovery,folders,recursive-folders,upload-keys}',
  'actors/portal/{documents,drafts,signing}/*',
  'http/portal/{attachments,creation-options,isolation,key-scopes,named-folders,program}',
  'http/portal/account/*',
  'http/portal/lists/{client,document-lists,document-packages}',
  'http/portal/requests/{drafts,editor-sessions,examples,field-attachments,field-edits,text-tags}',
];

/**
 * Suites whose services may be several nodes: they make no assumption about which one does the work. Suites in the
 * process of the test (`http/batch`, `actors`) have one node by nature, as have those that read the store of LMDB, the
 * memory or the metrics of one process (`service/{metrics,jobs-at-scale,shards}`, `commands`).
 */
const SUITES_OF_NODES = [
  'service/{kill,session}',
  'http/portal/{attachments,creation-options,isolation,key-scopes,named-folders,program}',
  'http/portal/account/*',
  'http/portal/lists/{client,document-lists,document-packages}',
  'http/portal/requests/{drafts,editor-sessions,examples,field-attachments,field-edits,text-tags}',
];

/** Several nodes on one machine start slowly: ava ends a run in which no test ends for so long. */
const NODES_TIMEOUT = '--timeout=5m';

const hasNodes = Number(process.env.SEALWRIGHT_NODES ?? 1) > 1;
const suites = hasNodes ? SUITES_OF_NODES : SUITES;
const files = process.argv.slice(2);
const server = await startServer();
if (server === undefined) {
  console.error('PostgreSQL 15 or newer is missing. On Debian: apt-get install -y postgresql');
  process.exit(3);
}
const ava = fileURLToPath(new URL('../node_modules/ava/entrypoints/cli.mjs', import.meta.url));
const child = spawn(
  process.execPath,
  [
    ava,
    ...(hasNodes ? [NODES_TIMEOUT] : []),
    ...(files.length > 0 ? files : suites.map((suite) => `dist/test/${suite}.test.js`)),
  ],
  { stdio: 'inherit', env: { SEALWRIGHT_TESTS: 'all', ...process.env, SEALWRIGHT_POSTGRES_URL: server.url } },
);
// The server ends after the tests, also when they are interrupted.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const code = await new Promise((resolve) => child.on('exit', (exit) => resolve(exit ?? 1)));
await server.remove();
process.exit(code);
