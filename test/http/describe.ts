/** `node describe.js <folder>` writes the descriptions of this build into a folder, for `answers.ts`. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { type PageService, portalPageRoutes } from '../../http/portal/page-routes.ts';
import { batchDocument, portalDocument } from './descriptions.ts';

const [folder = ''] = process.argv.slice(2);
const pages = portalPageRoutes({} as PageService, { clock: systemClock, ids: systemIds });
mkdirSync(folder, { recursive: true });
for (const [name, document] of Object.entries({
  batch: batchDocument(),
  portal: portalDocument(),
  'portal-with-pages': portalDocument(pages),
})) {
  const path = join(folder, `${name}.json`);
  // Another process may be doing the same.
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(document));
  renameSync(`${path}.${process.pid}`, path);
}
