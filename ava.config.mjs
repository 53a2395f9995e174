import { bundleTests } from './scripts/bundle.mjs';
import { byLength, chosenTests, sharedTests } from './scripts/test-suites.mjs';

/** Compiled tests only; SEALWRIGHT_DIST names another build folder (several builds beside each other). */
const dist = process.env.SEALWRIGHT_DIST ?? 'dist';
const compiled = (name) => `${dist}/test/${name}.test.js`;

/** Files that are named on the command line run as they are, each file in a process of its own. */
const isSharing =
  process.env.SEALWRIGHT_TESTS !== 'release' &&
  !process.argv.slice(2).some((word) => word.includes(`${dist}/test/`));
const chosen = chosenTests(process.env);

export default {
  files: isSharing ? await sharingFiles() : chosen.map(compiled),
  require: [`./${dist}/test/project/children.js`, `./${dist}/test/project/times.js`],
  // Without any test ending for so long, something hangs: ava names what is pending and ends it.
  timeout: '2m',
  // Two cores are what the project is built for; more processes only make each other late.
  concurrency: 2,
  workerThreads: false,
  sortTestFiles: byLength,
};

async function sharingFiles() {
  const { groups, inTurn, single } = sharedTests(chosen);
  const folder = `${dist}/shared-tests`;
  await bundleTests({ groups, inTurn }, folder, dist);
  return [...[...groups.keys()].map((name) => `${folder}/${name}.test.js`), ...single.map(compiled)];
}
