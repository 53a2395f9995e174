/** Division of the tests: what `npm test`, the check of a change (`.ci/run`) and a release run, and which files share a process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Tests that take minutes; `SEALWRIGHT_TESTS=all npm test` runs them too, as does the check of a change (`.ci/run`). */
const LONG = [
  'browser/**/*',
  'clients/*',
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
  'service/signing/{certificate-checks,profile*,levels*,token*,trust-lists}',
  'service/soak/soak*',
  'actors/batch/{operations,recovery,recovery-property,webhooks/ends-of-jobs}*',
  'actors/batch/folders/input-buckets',
  'actors/batch/jobs/{bulk-jobs,job-races,job-retention,stalled-jobs}*',
  'actors/portal/{generations/generation,reports/reports,uploads/backup,documents/kill,documents/shown}*',
  'actors/portal/signing/{certificates,conditions,kill-certificate,time-stamps}*',
  'actors/portal/{accounts/keys-command,uploads/kill*}',
  'contract/postgres-{packed-store,pair-order,store}',
  'actors/portal/webhooks/kill*',
  'actors/shared/objects/*',
  'http/portal/{kills,retention}/*',
  'http/portal/{nonsense*,audit-trail*,openapi*,program,xades-options*}',
  'http/portal/signing/{concurrent-signatures,large-document,names-in-scripts,older-links,own-signatures,seal-profile,signed-envelopes,signing-provider,unproven-certificates}*',
  'http/portal/requests/{folder-keys*,editor-sessions*,examples*,templates*,text-tags*,field-*,*-kill*}',
  'http/portal/accounts/{branded-mails,page-rights}*',
  'http/portal/lists/{client*,document-operations*,document-packages*}',
  'web/portal/*-makers*',
  'commands/{backup,decrypt,doctor,health,keys-service,program,store-copy,verify-history,verify/*}*',
  'runtime/{crash/kill,examples,packed}*',
  'actors/pool/{independent-check,lost-threads,pool-groups,sign-task}*',
  'project/{clients,release}',
  'bench/command*',
  'deploy/chart',
  'postgres/*',
];

/** Tests that take longer than the check of a change may; `SEALWRIGHT_TESTS=release npm test` runs them before a release. */
const RELEASE = [
  'project/{clients,clients-before-release,release}',
  'clients/n8n',
  'commands/{decrypt,store-copy,verify-history}',
  'remote/outage',
  'service/{jobs-at-scale,kill,webhook-kill}',
  'http/portal/kills/*',
  'http/portal/requests/{branding,drafts,field-attachments,mails,reminders,templates}-kill',
  'http/portal/audit-trail-kill',
  'actors/portal/{accounts/keys-command,documents/kill-creation,signing/kill-certificate}',
  'actors/pool/pool-groups',
  'service/{broken-certificates,containers,extend,session,signing/profile-options}',
  'deploy/chart',
  'http/portal/requests/{examples,templates-bulk,text-tags-versions}',
  'http/portal/{lists/document-packages,signing/older-links}',
  'contract/postgres-{packed-store,pair-order}',
  'actors/batch/{recovery-property,jobs/bulk-jobs}',
  'crypto/{cades/large-levels,keys/token,xades/augment}',
  'crypto/pades/appearance/appearance-{archives,image}',
  'crypto/pades/corpus/corpus-{archives,office}',
  'service/shards*',
  'service/soak/soak*',
  'postgres/{chaos,client-addresses,hosts,killed-nodes,lost-page,plans,restore,shared-limits,suspended-nodes,wrong-clocks}',
  'actors/shared/objects/{object-nodes,return-to-moment,s3-objects}',
  'actors/batch/folders/input-buckets',
  'browser/account/{branding,corrections,editor-sessions,link-visits,passkeys,sender-devices,templates}',
  'browser/portal/{deputies,languages,participant-passkeys,reading,signing-provider}',
  'browser/{operator-actions,operator-inspection,operator-nodes,operators/zoom-and-dialogs,site}',
  'http/portal/xades-{options,options-long}',
  'browser/engines/*',
];

/** Tests that the check runs on the next Node too: those of the listener, the store and threads, which depend on its version most. */
const NEXT_NODE = [
  'actors/compiler-flags',
  'runtime/{host,step,store/lmdb,effects/outbox,timers/timers}',
  'http/core/headers',
  'http/batch/jobs',
  'crypto/sign',
  'commands/try',
];

/** Those that it runs on the Nodes after that. */
const LATER_NODES = ['http/core/{headers,hostile,http-libraries}', 'commands/try'];

/** Elapsed seconds of test processes (`shared/<group>` or the name of a file), beside others. `scripts/write-test-seconds.mjs` writes them. */
export const TEST_SECONDS = JSON.parse(readFileSync(join(import.meta.dirname, 'test-seconds.json'), 'utf8'));

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
  // All tests of a process begin at once: with more files, the first would wait for their turn longer than they may.
  'runtime-crash': /^runtime\/(crash|nodes|store)\//,
  'runtime-effects': /^runtime\/(effects|host|step|timers)\//,
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
export const ALL = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.replace(/\.test\.ts$/, ''))
  .sort();

/**
 * Names of the test files that run.
 *
 * `SEALWRIGHT_TESTS`: nothing for the quick ones, `unit` for those of them that start nothing, `all`, or `release`; `next-node`
 * and `later-nodes` for what the check repeats there. `SEALWRIGHT_FOLDERS`: only those in these folders, separated by commas.
 * `SEALWRIGHT_WITHOUT`: none of these folders; with the word `quick` in it, `all` leaves out what `npm test` runs.
 */
export function chosenTests({ SEALWRIGHT_FOLDERS, SEALWRIGHT_WITHOUT, SEALWRIGHT_TESTS: wanted }) {
  const folders = SEALWRIGHT_FOLDERS?.split(',');
  const without = SEALWRIGHT_WITHOUT?.split(',') ?? [];
  return testsOf(wanted, without.includes('quick')).filter((file) => {
    const folder = file.slice(0, file.indexOf('/'));
    return (folders?.includes(folder) ?? true) && !without.includes(folder);
  });
}

function testsOf(wanted, isWithoutQuick) {
  if (wanted === 'unit')
    return testsOf(undefined, false).filter(
      (file) => groupOf(file, SHARED) !== undefined && !STARTS_OTHERS.test(sourceOf(file)),
    );
  const repeated = { 'next-node': NEXT_NODE, 'later-nodes': LATER_NODES }[wanted]?.map(expression);
  if (repeated) return ALL.filter((file) => repeated.some((one) => one.test(file)));
  const all = wanted === 'all' || wanted === 'release';
  const left = (wanted === 'release' ? [] : all ? RELEASE : [...LONG, ...RELEASE]).map(expression);
  const taken = (wanted === 'all' && isWithoutQuick ? LONG : ['**/*']).map(expression);
  return ALL.filter((file) => taken.some((one) => one.test(file)) && !left.some((one) => one.test(file)));
}

/** Order of two test files by their paths in the build, the longest first: one that starts late runs alone at the end, while a core has nothing to do. */
export function byLength(left, right) {
  return (TEST_SECONDS[nameOf(right)] ?? 0) - (TEST_SECONDS[nameOf(left)] ?? 0);
}

/** Name of the process of a test file, by its path in the build. */
export function nameOf(path) {
  return path
    .replace(/^.*\/shared-tests\//, 'shared/')
    .replace(/^.*\/test\//, '')
    .replace(/\.test\.js$/, '');
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
