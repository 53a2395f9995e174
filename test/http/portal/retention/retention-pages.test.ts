/** Rules of retention and legal holds on the pages of administrators. */
import test from 'ava';
import { startProgram, until } from '../../../actors/portal/service.ts';
import { ADMINISTRATOR, person } from '../accounts/users.ts';

const PATH = '/organization/retention';
const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };

test('an administrator sets rules and holds on pages, and others do neither', async (t) => {
  const program = await startProgram(t);
  const { acme } = program;
  const folder = await acme.post<{ id: string }>('/api/folders', { name: 'Court & co' });
  const id = await acme.create([ANA]);
  const chief = await person(program, 'chief', ADMINISTRATOR);
  const { browser } = chief.caller;
  const rule = { folderId: folder.id, status: 'Concluded', days: '90' };
  t.is((await browser.submit(`${PATH}/rules`, rule)).status, 302);
  t.is((await browser.submit(`${PATH}/rules`, { ...rule, days: '80' })).status, 302);
  t.is((await browser.submit(`${PATH}/rules`, { folderId: '', status: '', days: '' })).status, 302);
  t.is((await browser.submit(`${PATH}/notice`, { noticeDays: '7' })).status, 302);
  t.like(await acme.get('/api/retention'), {
    noticeDays: 7,
    rules: [
      { folderId: folder.id, status: 'Concluded', days: 80 },
      { folderId: null, status: null, days: null },
    ],
  });
  const wrong = await browser.submit(`${PATH}/rules`, { ...rule, days: '0' });
  t.is(wrong.status, 422);
  t.regex(await wrong.text(), /1 to 36500/);
  t.is((await browser.submit(`${PATH}/rules/all/each/removal`)).status, 302);

  t.is((await browser.submit(`${PATH}/holds`, { id: folder.id, reason: 'Case 7' })).status, 302);
  t.is((await browser.submit(`${PATH}/holds`, { type: 'Document', id, reason: 'Case 8' })).status, 302);
  t.is((await browser.submit(`${PATH}/holds`, { type: 'Document', id, reason: ' ' })).status, 422);
  const page = await browser.page(PATH);
  t.regex(page, /Court &amp; co/);
  t.regex(page, /deleted after 80 days/);
  t.regex(page, /Case 7[\s\S]*Case 8/);
  const document = await browser.page(`/account/documents/${id}`);
  t.regex(document, /Case 8/);
  t.like(await acme.send(`/api/documents/${id}`, undefined, 'DELETE'), { status: 422 });

  const sender = await person(program, 'sender');
  t.notRegex(await sender.caller.browser.page(`/account/documents/${id}`), /Case 8|End the hold/);
  t.is((await sender.caller.browser.submit(`${PATH}/holds/Document/${id}/removal`)).status, 403);
  t.is((await sender.caller.browser.fetch(PATH)).status, 403);
  const erasure = { email: 'ana@example.org', keepFor: 'LegalClaims' };
  t.is((await sender.caller.browser.submit(`${PATH}/erasures`, erasure)).status, 403);
  const nobody = await browser.submit(`${PATH}/erasures`, { ...erasure, email: 'ana' });
  t.is(nobody.status, 422);
  t.regex(await nobody.text(), /Enter an e-mail address/);
  t.is((await browser.submit(`${PATH}/erasures`, erasure)).status, 302);
  const report = await until(async () =>
    /0 kept, 1 refused/.test(await browser.page(PATH)) ? browser.page(PATH) : undefined,
  );
  t.regex(report, /A document under legal hold\. End the hold/);
  t.notRegex(report, /ana@example/);

  t.is((await browser.submit(`${PATH}/holds/Document/${id}/removal`)).status, 302);
  t.is((await acme.send(`/api/documents/${id}`, undefined, 'DELETE')).status, 200);
});
