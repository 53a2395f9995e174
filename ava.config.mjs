/** Compiled tests only; SEALWRIGHT_DIST names another build folder (several builds beside each other). */
const dist = process.env.SEALWRIGHT_DIST ?? 'dist';

export default {
  files: [`${dist}/test/**/*.test.js`],
  timeout: '3m',
  // Two cores are what the project is built for; more processes only make each other late.
  concurrency: 2,
  workerThreads: false,
};
