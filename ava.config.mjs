/** Compiled tests only; SEALWRIGHT_DIST names another build folder (several builds beside each other). */
const dist = process.env.SEALWRIGHT_DIST ?? 'dist';

/** Tests that take minutes; `SEALWRIGHT_TESTS=all npm test` runs them too, as does the check of a change (`.ci/run`). */
const LONG = [
  'browser/**/*',
  'project/readme*',
  'fuzz/*',
  'remote/*',
  'crypto/**/*large*',
  'crypto/pades/corpus/*',
  'crypto/pades/{hostile*,structures*}',
  'crypto/x509/path-matrix*',
  'crypto/evidence/revocation-status',
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
  'service/{bad-input*,containers*,extend*,hard-conditions*,jobs-at-scale*,kill-points*,shards*,webhook-kill*}',
  'service/signing/{profiles*,levels*,token*}',
  'service/soak/soak*',
  'actors/batch/{operations,recovery,recovery-property,webhooks/ends-of-jobs}*',
  'actors/batch/jobs/{bulk-jobs,job-races,job-retention,stalled-jobs}*',
  'actors/portal/{generation/generation,reports/reports,uploads/backup,documents/kill,documents/shown}*',
  'actors/portal/signing/{certificates,kill-certificate,large-flow,time-stamps}*',
  'actors/portal/uploads/kill*',
  'actors/portal/webhooks/kill*',
  'http/portal/kills/*',
  'http/portal/{nonsense*,audit-trail*,openapi*,xades-options-long*}',
  'http/portal/signing/{concurrent-signatures,large-document,names-in-scripts,older-links,own-signatures,signed-envelopes,unproven-certificates}*',
  'http/portal/requests/{folder-keys*,editor-sessions*,examples*,templates*,text-tags*,field-*,*-kill*}',
  'http/portal/account/branded-mails*',
  'http/portal/lists/{client*,document-operations*,document-packages*}',
  'web/portal/*-makers*',
  'commands/{actors,backup,decrypt,doctor,program,store-copy,verify-history,verify/*}*',
  'runtime/crash/{kill,*-long}*',
  'actors/pool/{independent-check,lost-threads,pool-groups,sign-task}*',
  'bench/command*',
  'postgres/*',
];

/** Tests that take longer than the check of a change may; `SEALWRIGHT_TESTS=release npm test` runs them before a release. */
const RELEASE = ['service/shards-{two,four}*', 'service/soak/soak*'];

/** Tests of `npm test` that try more under `SEALWRIGHT_TESTS=all`; `test/project/suites.test.ts` checks the list. */
const DEEPER = [
  'actors/pool/thread-start',
  'crypto/pades/field-overlays',
  'crypto/xades/wrapping',
  'runtime/{thread-start,crash/random,store/power-cut}',
];

const wanted = process.env.SEALWRIGHT_TESTS;
const skipped = wanted === 'release' ? [] : wanted === 'all' ? RELEASE : [...LONG, ...RELEASE];
/** With `SEALWRIGHT_WITHOUT=quick`, `all` leaves out what `npm test` runs in the same way: `.ci/run` has just done so. */
const chosen =
  wanted === 'all' && process.env.SEALWRIGHT_WITHOUT === 'quick' ? [...LONG, ...DEEPER] : ['**/*'];

export default {
  files: [
    ...chosen.map((files) => `${dist}/test/${files}.test.js`),
    ...skipped.map((files) => `!${dist}/test/${files}.test.js`),
  ],
  require: [`./${dist}/test/project/children.js`],
  // Without any test ending for so long, something hangs: ava names what is pending and ends it.
  timeout: '2m',
  // Two cores are what the project is built for; more processes only make each other late.
  concurrency: 2,
  workerThreads: false,
};
