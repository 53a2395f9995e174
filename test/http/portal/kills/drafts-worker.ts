/**
 * The process that is killed: a draft is refused and removed, while a call that is `late` makes its document, or while the
 * documents that the refused attempt has made are not canceled yet (`removed`).
 */

import { Faults, systemClock, systemIds } from '@sealwright/runtime';
import { Drafts } from '../../../../actors/portal/saved-requests/drafts.ts';
import { PortalRefusal } from '../../../../machines/portal/portal-refusals.ts';
import { portalFixture, signer } from '../../../actors/portal/documents/flow-harness.ts';
import { movableClock } from '../../../actors/portal/uploads/upload-harness.ts';

const [, , root = '', when = ''] = process.argv;
const clock = movableClock();
const faults = Faults.parse(process.env['SEALWRIGHT_FAULTS']);
const { portal, runtime, store, tenant, file } = await portalFixture(
  { teardown() {} },
  { root, clock, faults },
);
/** Another node, where a rule refuses every creation. */
const refusing = new Drafts({ actors: runtime, store, clock, ids: systemIds }, portal.uploads, {
  create: () => Promise.reject(new PortalRefusal('FolderNotFound')),
});

const files = [await file('one.pdf')];
if (when === 'removed') files.push(await file('two.pdf'));
const request = { files, flowActions: [signer('Ana')] };
const document = { read: request, sent: request };
const { id } = await portal.drafts.create(tenant, { name: 'Draft', document });

async function refuseAndRemove() {
  clock.forward(30_000);
  await refusing.send(tenant, id).catch(() => {});
  await portal.drafts.remove(tenant, id);
}

if (when === 'late') {
  faults.arm('portal.create.some', refuseAndRemove);
  // The call is refused. On PostgreSQL this may be before the effect at which the process is killed.
  await portal.drafts.send(tenant, id).catch(() => {});
  await systemClock.sleep(60_000);
  process.exit(1);
} else {
  faults.arm('portal.create.some', 'throw');
  faults.arm('effect.leased.before-run/cancelDraftDocuments', 'hang');
  await portal.drafts.send(tenant, id).catch(() => {});
  await refuseAndRemove();
  process.kill(process.pid, 'SIGKILL');
}
