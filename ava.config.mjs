/** Compiled tests only; SEALWRIGHT_DIST names another build folder (several builds beside each other). */
const dist = process.env.SEALWRIGHT_DIST ?? 'dist';

export default {
  files: [`${dist}/test/**/*.test.js`],
  require: [`./${dist}/test/house/children.js`],
  // Without any test ending for so long, something hangs: ava names what is pending and ends it.
  timeout: '2m',
  // Two cores are what the project is built for; more processes only make each other late.
  concurrency: 2,
  workerThreads: false,
};
