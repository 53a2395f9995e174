/**
 * Writes the pages that are made from code: `npm run build && node scripts/write-docs.mjs`.
 * With --check it writes nothing, names the pages that are not up to date, and ends with exit code 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorCatalogue } from './docs/error-catalogue.mjs';

const root = join(import.meta.dirname, '..');
const built = (path) => import(pathToFileURL(join(root, process.env.SEALWRIGHT_DIST ?? 'dist', path)).href);
const isCheck = process.argv.includes('--check');

const { configurationReference } = await built('settings.js');
const { REFUSALS } = await built('contracts/batch/refusals.js');
const { PORTAL_REFUSALS } = await built('contracts/portal/refusals.js');
const pages = {
  'docs/configuration.md': configurationReference(),
  'docs/errors.md': errorCatalogue(REFUSALS, PORTAL_REFUSALS),
};

for (const [page, text] of Object.entries(pages)) {
  if (isCheck) {
    if (readOr(page, '') === text) continue;
    console.error(`${page} is not up to date. Run: npm run build && node scripts/write-docs.mjs`);
    process.exitCode = 1;
  } else {
    writeFileSync(join(root, page), text);
    console.log(`${page} written`);
  }
}

function readOr(page, fallback) {
  try {
    return readFileSync(join(root, page), 'utf8');
  } catch {
    return fallback;
  }
}
