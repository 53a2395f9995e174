/** Compiled tests only; SEALWRIGHT_DIST names another build folder (several builds beside each other). */
const dist = process.env.SEALWRIGHT_DIST ?? 'dist';

/** Minutes of work each; `SEALWRIGHT_TESTS=all npm test` runs them too. */
const LONG = [
  'browser/*',
  'fuzz/*',
  'remote/*',
  'crypto/**/*large*',
  'crypto/pades/{corpus-*,hostile,structures}*',
  'crypto/certificates/path-matrix*',
  'crypto/revocation/status*',
  'crypto/xml/reader*',
  'crypto/pades/appearance-*',
  'crypto/keys/pfx-makers*',
  'crypto/xades/{augment,levels,real-world,attacks}*',
  'crypto/asic/*',
  'crypto/validation/formats*',
  'service/{hard-conditions,profiles,levels,jobs-at-scale,soak,token,shards,shards-long}*',
  'portal/{uploads,webhooks}/kill*',
  'portal/http/{nonsense,xades-options-long}*',
  'portal/pages/*-makers*',
  'commands/{backup,doctor}*',
  'runtime/*-long*',
  'actors/lost-threads*',
  'bench/command*',
];
const skipped = process.env.SEALWRIGHT_TESTS === 'all' ? [] : LONG;

export default {
  files: [`${dist}/test/**/*.test.js`, ...skipped.map((files) => `!${dist}/test/${files}.test.js`)],
  require: [`./${dist}/test/house/children.js`],
  // Without any test ending for so long, something hangs: ava names what is pending and ends it.
  timeout: '2m',
  // Two cores are what the project is built for; more processes only make each other late.
  concurrency: 2,
  workerThreads: false,
};
