/** Signing calls with a link or a version from before a new version, over HTTP. */

import test from 'ava';
import type { FileWarning } from '../../../../contracts/file-warnings.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { sharedProgram } from '../../../actors/portal/service.ts';
import { contract, hiddenLook } from '../../../crypto/pades/validation/attack-files.ts';
import { portalDocument } from '../../descriptions.ts';
import { assertRefused } from '../../refused.ts';
import { ticketOf } from './certificate-client.ts';

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };
test('an older link shows the new version, and signs it only for a caller who names it', async (t) => {
  const { acme, url } = await sharedProgram(t);
  const content = contract(hiddenLook);
  const id = await acme.create([ANA], {}, { name: 'a.pdf', content, type: 'application/pdf' });
  const warned = async () =>
    (await acme.get<{ warnings: FileWarning[] }>(`/api/documents/${id}`)).warnings.map(
      ({ object }) => object,
    );
  const { key, ticket } = await ticketOf(acme, id, ANA.user.email);
  const page = async () =>
    (await fetch(`${url}/document/key/${key}/sign?ticket=${ticket}&culture=en`)).text();
  const first = await page();
  t.false(first.includes(TEXTS.en.pages.signing.newVersion));
  t.true(first.includes('hidden fields that can come to light after signing: Approval.'), first);
  t.deepEqual(await warned(), ['Approval']);
  const file = { ...(await acme.upload()), displayName: 'Second' };
  await acme.post(`/api/documents/${id}/versions`, { file });
  const shown = await page();
  t.true(shown.includes(TEXTS.en.pages.signing.newVersion) && shown.includes('Second'), shown);
  t.false(shown.includes('hidden fields'));
  t.deepEqual(await warned(), []);
  const send = (action: string, more: object) =>
    fetch(`${url}/api/documents/keys/${key}/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ticket, ...more }),
    });
  const sign = (documentVersion?: number) => send('electronic-signature', { documentVersion });
  await assertRefused(t, await sign(), 'VersionChanged');
  await assertRefused(t, await send('participant-refusal', { reason: 'No.' }), 'VersionChanged');
  await assertRefused(t, await sign(1), 'InvalidDocumentStatus');
  t.like(await acme.get(`/api/documents/${id}`), { status: 'Pending', hasSignature: false });

  const described = JSON.stringify(portalDocument());
  const [text = ''] = /"documentVersion":\{[^{}]*\}/.exec(described) ?? [];
  t.regex(text, /not the current one, .* `InvalidDocumentStatus`\. Absent: .* older .* `VersionChanged`/);

  t.is((await sign(2)).status, 200);
});
