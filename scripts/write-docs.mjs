/** Writes the pages that are made from code. Run after a build: `npm run build && node scripts/write-docs.mjs`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const built = join(root, process.env.SEALWRIGHT_DIST ?? 'dist', 'settings.js');
const { configurationReference } = await import(pathToFileURL(built).href);
writeFileSync(join(root, 'docs', 'configuration.md'), configurationReference());
console.log('docs/configuration.md written');
