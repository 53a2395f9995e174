/** Attachments are read by key, and those that are not private by participants. Source: docs/portal-values.md §§5, 7. */
import test from 'ava';
import { sharedProgram } from '../../actors/portal/service.ts';
import { assertRefused } from '../refused.ts';
import { ticketOf } from './signing/certificate-client.ts';

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' } }];

test('attachments are read by key, and by participants unless they are private', async (t) => {
  const { acme, url, organization } = await sharedProgram(t);
  const attachment = async (displayName: string, isPrivate: boolean) => {
    const content = Buffer.from(`content of ${displayName}`);
    const upload = await acme.upload({ name: `${displayName}.txt`, content, type: 'text/plain' });
    return { ...upload, displayName, isPrivate };
  };
  const given = [await attachment('Annex', false), await attachment('Secret', true)];
  const id = await acme.create(FLOW, { attachments: given });
  const { attachments } = await acme.get<{ attachments: { id: string; name: string }[] }>(
    `/api/documents/${id}`,
  );
  const { key, ticket } = await ticketOf(acme, id, 'ana@example.org');
  const byKey = (attachmentId: string) => `/api/documents/${id}/attachments/${attachmentId}/content`;
  const byTicket = (attachmentId: string, with_ = ticket) =>
    `${url}/document/key/${key}/attachments/${attachmentId}?ticket=${encodeURIComponent(with_)}`;
  for (const { id: attachmentId, name } of attachments) {
    const answer = await acme.fetch(byKey(attachmentId));
    t.is(await answer.text(), `content of ${name}`);
    t.regex(
      answer.headers.get('content-disposition') ?? '',
      new RegExp(`attachment; filename="${name}.txt"`),
    );
  }
  const [annex, secret] = attachments.map((one) => one.id);
  const read = await fetch(byTicket(annex ?? ''));
  t.is(await read.text(), 'content of Annex');
  await assertRefused(t, await fetch(byTicket(secret ?? '')), 'AttachmentNotFound');
  await assertRefused(t, await fetch(byTicket(annex ?? '', 'x')), 'InvalidTicket');
  await assertRefused(t, await acme.fetch(byKey(crypto.randomUUID())), 'AttachmentNotFound');
  const otherOrganization = await organization('Strangers');
  await assertRefused(t, await otherOrganization.fetch(byKey(annex ?? '')), 'DocumentNotFound');
  const page = await (await fetch(`${url}/document/key/${key}/sign?ticket=${ticket}&culture=en`)).text();
  t.true(page.includes(`/attachments/${annex}?ticket=`) && page.includes('>Annex</a>'));
  t.false(page.includes(secret ?? '-') || page.includes('Secret'));
});
