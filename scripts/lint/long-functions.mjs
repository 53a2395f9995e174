/**
 * Fails unless the functions that may have more than 70 lines (biome.json, `noExcessiveLinesPerFunction`) are those
 * named here. The reason stands in the suppression at each. The list only gets shorter: who parts a function removes
 * its name, and lowers the number of names.
 *
 * node scripts/lint/long-functions.mjs [--root <folder>]   exit 0: the suppressions are these, 1: they are not
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names below, exactly. */
const COUNT = 12;

const LONG_FUNCTIONS = {
  'crypto/pades/painting/content-reader.ts': '#interpret',
  'machines/delivery-queue.ts': 'queueMachine',
  'runtime/runtime.ts': 'buildRuntime',
  'runtime/step/step.ts': 'assemble',
  'runtime/testing/effect-promises.ts': 'EFFECT_PROMISES',
  'runtime/testing/step-promises.ts': 'STEP_PROMISES',
  'web/client/batch/live-page.tsx': 'startPage',
  'web/client/portal/guide.ts': 'startGuide',
  'web/client/portal/sender/files-step.tsx': 'FilesStep',
  'web/client/portal/sender/folder-access.tsx': 'changeFolderAccess',
  'web/client/portal/signature-look.ts': 'startSignatureLook',
  'web/pages/batch/components-page.tsx': 'ComponentsPage',
};

const RULE = /^ *\/\/ biome-ignore lint\/complexity\/noExcessiveLinesPerFunction: .+\n(.*)/gm;
const NAME = /^ *(?:export )?(?:async )?(?:function |const )?([#\w]+)/;

const option = process.argv.indexOf('--root');
const root = option > 0 ? process.argv[option + 1] : join(import.meta.dirname, '..', '..');

const suppressed = sourceFiles('').flatMap((path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(RULE)].map(
    ([, line = '']) => `${path}: ${NAME.exec(line)?.[1]}`,
  ),
);
const named = Object.entries(LONG_FUNCTIONS).map(([path, name]) => `${path}: ${name}`);
const findings = [
  ...suppressed
    .filter((one) => !named.includes(one))
    .map((one) => `${one} is longer than 70 lines; part it by what it does`),
  ...named
    .filter((one) => !suppressed.includes(one))
    .map((one) => `${one} is no long function any more; remove it from scripts/lint/long-functions.mjs`),
  ...(named.length === COUNT ? [] : [`${named.length} names; COUNT is ${COUNT}`]),
];
for (const finding of findings) console.error(finding);
if (findings.length > 0) process.exitCode = 1;

function sourceFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return /(?<!\.d)\.(tsx?|mjs)$/.test(path) ? [path] : [];
    return /^(node_modules|dist.*|data|\..*)$/.test(entry.name) ? [] : sourceFiles(path);
  });
}
