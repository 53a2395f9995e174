/** Division of the tests: what `npm test`, the check of a change (`.ci/run`) and a release run, and which files share a process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Tests that take minutes; `SEALWRIGHT_TESTS=all npm test` runs them too, as does the check of a change (`.ci/run`). */
const LONG = [
  'browser/**/*',
  'clients/n8n',
  'http/sign-on/foreign-provider',
  'project/readme*',
  'fuzz/*',
  'remote/*',
  'crypto/**/*large*',
  'crypto/pades/corpus/*',
  'crypto/pades/{hostile*,structures*}',
  'crypto/xml/{canonical-methods,reader}*',
  'crypto/cades/hostile-additions*',
  'crypto/pades/validation/object-exchange*',
  'crypto/pades/appearance/appearance-*',
  'crypto/keys/{pfx-makers,token}*',
  'crypto/xades/{augment,levels,real-world,attacks}*',
  'crypto/asic/*',
  'crypto/zip/zip',
  'verifiers/agreement*',
  'crypto/validation/formats*',
  'service/{bad-input*,broken-certificates,containers*,extend*,hard-conditions*,jobs-at-scale*,kill,kill-points*,metrics,session,shards*,webhook-kill*}',
  'service/signing/{certificate-checks,profiles*,levels*,token*}',
  'service/soak/soak*',
  'actors/batch/{operations,recovery,recovery-property,webhooks/ends-of-jobs}*',
  'actors/batch/jobs/{bulk-jobs,job-races,job-retention,stalled-jobs}*',
  'actors/portal/{generation/generation,reports/reports,uploads/backup,documents/kill,documents/shown}*',
  'actors/portal/signing/{certificates,kill-certificate,time-stamps}*',
  'actors/portal/{tenants/keys-command,uploads/kill*}',
  'contract/postgres-{marks,packed-store,pair-order,store}',
  'actors/portal/webhooks/kill*',
  'actors/shared/objects/*',
  'http/portal/kills/*',
  'http/portal/{nonsense*,audit-trail*,openapi*,program,xades-options*}',
  'http/portal/signing/{concurrent-signatures,large-document,names-in-scripts,older-links,own-signatures,seal-profile,signed-envelopes,unproven-certificates}*',
  'http/portal/requests/{folder-keys*,editor-sessions*,examples*,templates*,text-tags*,field-*,*-kill*}',
  'http/portal/account/{branded-mails,page-rights}*',
  'http/portal/lists/{client*,document-operations*,document-packages*}',
  'web/portal/*-makers*',
  'commands/{actors,backup,decrypt,doctor,health,mcp,program,store-copy,verify-history,verify/*}*',
  'runtime/{crash/kill,examples,packed}*',
  'actors/pool/{independent-check,lost-threads,pool-groups,sign-task}*',
  'project/{clients,layout,release}',
  'bench/command*',
  'deploy/chart',
  'postgres/*',
];

/** Tests that take longer than the check of a change may; `SEALWRIGHT_TESTS=release npm test` runs them before a release. */
const RELEASE = ['project/clients-before-release', 'service/shards-{two,four}*', 'service/soak/soak*'];

/** Tests of `npm test` that try more under `SEALWRIGHT_TESTS=all`; `test/project/suites.test.ts` checks the list. */
const DEEPER = [
  'actors/pool/thread-start',
  'crypto/pades/field-overlays',
  'crypto/xades/wrapping',
  'service/effects-under-load',
  'runtime/{thread-start,crash/{deadlines,random},nodes/simulation,step/state-index,store/lmdb,store/power-cut}',
];

/**
 * Tests that take longest, the longest first: one that starts late runs alone at the end, while a core has nothing to do. Those
 * with a database are apart from each other.
 */
const LONGEST = [
  'browser/engines/signer',
  'http/portal/requests/drafts-kill',
  'service/{kill-points,main-job}',
  'postgres/suspended-nodes',
  'browser/operator-inspection',
  'browser/engines/sender',
  'postgres/killed-nodes',
  'http/portal/kills/records',
  'browser/account/sender',
  'postgres/chaos',
  'runtime/crash/{random,kill,deadlines}',
  'project/release',
  'browser/account/editor-sessions',
  'commands/store-copy',
  'http/portal/kills/*',
  'service/effects-under-load',
  'runtime/{examples,store/power-cut}',
  'project/clients',
  'actors/portal/documents/kill',
  'fuzz/http',
  'http/portal/requests/mails-kill',
  'commands/verify-history',
  'actors/shared/objects/object-nodes',
];

/** Folders whose files share a process, by the name of that process: most of a small file's time is loading the product. */
const SHARED = {
  small: /^(bench|contracts|independent|logging|machines|settings|web|crypto\/(asn1|core|pdf|x509))\//,
  'http-core': /^http\/core\//,
  'http-batch': /^http\/batch\//,
  'crypto-formats': /^crypto\/(cades|cms|keys|xml)\//,
  'crypto-evidence': /^crypto\/(evidence|envelope|sign$|package$)/,
  'crypto-pades': /^crypto\/pades\//,
  'crypto-validation': /^crypto\/validation\//,
  'crypto-xades': /^crypto\/xades\//,
  runtime: /^runtime\//,
};

/** The same for files that start services: they run one after the other. */
const SHARED_IN_TURN = {
  'actors-batch': /^actors\/(batch|pool|shared)\//,
  crypto: /^crypto\//,
  'actors-portal-work': /^actors\/portal\/(documents|renditions|signing|validation)\//,
  'actors-portal': /^actors\/portal\//,
  'http-portal-requests': /^http\/portal\/(requests|lists)\//,
  'http-portal': /^http\/portal\//,
};

/** Keeps a file in a process of its own: waiting at its top, changes of the process, hooks for each test, programs that import by address. */
const OWN_PROCESS =
  /\btest\.(beforeEach|afterEach)\b|^(const .* = )?await |\bprocess\.(env\S* \??=|chdir|on\()|\bglobalThis\.\w+ = |import\.meta\.resolve/m;

/** Keeps a file out of the unit tests: it runs programs and threads, of the product or from outside. */
const STARTS_OTHERS =
  /\/verifiers\/|node:child_process|node:worker_threads|system-calls|openLmdb|startProgram|shards/;

/** Keeps a file from running together with others, whose work would delay the answers of its server or start before it. */
const OWN_TURN = /\btest\.before\b|\bt\.context\b|\bstartAuthority\b|levels-harness/;

/** Names of all test files: their paths below `test/` without `.test.ts`. */
const ALL = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.replace(/\.test\.ts$/, ''))
  .sort();

/**
 * Names of the test files that run.
 *
 * `SEALWRIGHT_TESTS`: nothing for the quick ones, `unit` for those of them that start nothing, `all`, or `release`. With `SEALWRIGHT_WITHOUT=quick`, `all` leaves
 * out what `npm test` runs in the same way. `SEALWRIGHT_FOLDERS`: only those in these folders, separated by commas.
 */
export function chosenTests({ SEALWRIGHT_FOLDERS: folders, ...env }) {
  const { SEALWRIGHT_TESTS: wanted, SEALWRIGHT_WITHOUT: without } = env;
  if (folders)
    return chosenTests(env).filter((file) => folders.split(',').includes(file.slice(0, file.indexOf('/'))));
  if (wanted === 'unit')
    return chosenTests({}).filter(
      (file) => groupOf(file, SHARED) !== undefined && !STARTS_OTHERS.test(sourceOf(file)),
    );
  const all = wanted === 'all' || wanted === 'release';
  const left = (wanted === 'release' ? [] : all ? RELEASE : [...LONG, ...RELEASE]).map(expression);
  const taken = (wanted === 'all' && without === 'quick' ? [...LONG, ...DEEPER] : ['**/*']).map(expression);
  return ALL.filter((file) => taken.some((one) => one.test(file)) && !left.some((one) => one.test(file)));
}

/** Order of two test files by their paths in the build: what shares a process, then the longest, then the others. */
export function byLength(left, right) {
  return startOf(left) - startOf(right);
}

function startOf(path) {
  if (path.includes('/shared-tests/')) return -1;
  const name = path.replace(/^.*\/test\//, '').replace(/\.test\.js$/, '');
  const rank = LONGEST.findIndex((pattern) => expression(pattern).test(name));
  return rank === -1 ? LONGEST.length : rank;
}

/** Divides names of test files into groups that share a process (name of the group → names) and single ones; some take turns. */
export function sharedTests(names) {
  const groups = new Map();
  const inTurn = new Set();
  const single = [];
  for (const name of names) {
    const together = groupOf(name, SHARED);
    const group = together ?? groupOf(name, SHARED_IN_TURN);
    if (group === undefined) single.push(name);
    else groups.set(group, [...(groups.get(group) ?? []), name]);
    if (group !== together) inTurn.add(name);
  }
  return { groups, inTurn, single };
}

/** Name of the group whose process runs the file, or undefined. */
function groupOf(name, shared) {
  const [group] = Object.entries(shared).find(([, folder]) => folder.test(name)) ?? [];
  if (group === undefined) return undefined;
  const text = sourceOf(name);
  return OWN_PROCESS.test(text) || (shared === SHARED && OWN_TURN.test(text)) ? undefined : group;
}

function sourceOf(name) {
  return readFileSync(join(ROOT, 'test', `${name}.test.ts`), 'utf8');
}

/** A pattern of the lists as an expression over names of test files. */
function expression(pattern) {
  return new RegExp(
    `^${pattern
      .replaceAll('{', '(')
      .replaceAll('}', ')')
      .replaceAll(',', '|')
      .replaceAll('**/', '\0')
      .replaceAll('*', '[^/]*')
      .replaceAll('\0', '(.+/)?')}$`,
  );
}
