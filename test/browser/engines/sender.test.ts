/** The pages of senders and operators in Firefox and WebKit. */

import { writeFile } from 'node:fs/promises';
import anyTest, { type TestFn } from 'ava';
import { startProgram } from '../../actors/portal/service.ts';
import { freshPath } from '../../crypto/pades/validation/verdicts.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { ADMINISTRATOR, mailedLink } from '../../http/portal/accounts/users.ts';
import { withTools } from '../../verifiers/tool.ts';
import { type AccountPages, ownOrganization, sharePortal } from '../account/account-pages.ts';
import { serveHost } from '../portal/embedding-host.ts';
import { closeEngines, ENGINE_TOOLS, Engine } from './engine.ts';
import { type Front, startFront } from './front.ts';

const test = anyTest as TestFn<AccountPages>;
/** The proxy of the names that do not exist. */
let front: Front;
sharePortal(test, async (t) => {
  const program = await startProgram(t);
  front = await startFront(t, program.url, { 'operators.test': program.service.url });
  t.teardown(closeEngines);
  return program;
});
const PEOPLE = `[...document.querySelectorAll('#people-list input[name="name"], #people-list input[name="email"]')].map((one) => one.value)`;
/** The draft has what the page shows. */
const SAVED = `document.querySelector('#saved[data-state="saved"]') !== null`;
const EXPECTED = ['Bruno Dias', 'bruno@example.org'];

for (const name of ['firefox', 'webkit'] as const) {
  const engineTest = withTools(test, ...ENGINE_TOOLS[name]);
  engineTest.serial(`a sender composes a document in ${name}, comes back to it and sends it`, async (t) => {
    const email = `ana@${name}.example`;
    const program = await ownOrganization(t.context, email, ADMINISTRATOR, 'Ana');
    const engine = await Engine.shared(name, { proxy: front.address });
    const file = freshPath('lease.pdf');
    await writeFile(file, clausePdf(2));
    await engine.open(await mailedLink(program, email));
    await engine.press('main form button');
    await engine.until(`document.querySelector('.account-main') !== null`);
    await engine.open(`${program.url}/account/documents/new`);
    await engine.until(`document.querySelector('#editor[data-ready]') !== null`);
    await engine.type('#add-files', file);
    await engine.until(`document.querySelector('#file-list li') !== null`);
    await engine.press('#next');
    await engine.type('#people-list input[name="name"]', EXPECTED[0] ?? '');
    await engine.type('#people-list input[name="email"]', EXPECTED[1] ?? '');
    await engine.press('#next');
    await engine.until(`document.querySelector('#pages[data-shown]') !== null`);
    await engine.press('#palette button[data-kind="Signature"]');
    await engine.until(`document.querySelector('.placed') !== null`);
    await engine.press('#next');
    await engine.type('#message', 'Please sign.');
    await engine.until(SAVED);
    await engine.value(`document.querySelectorAll('.steps button')[1].click()`);
    const draft = await engine.value<string>('location.href');

    // WebKit keeps the page for Back, Firefox loads it again: what was entered is there.
    await engine.value('window.isKept = true');
    await engine.value(`document.querySelector('.top a').click()`);
    await engine.until(`location.pathname === '/account/documents'`);
    await engine.back();
    await engine.until(`document.querySelector('#editor[data-ready]') !== null`);
    t.is(await engine.value('window.isKept === true'), name === 'webkit');
    t.deepEqual(await engine.value(PEOPLE), EXPECTED);
    await engine.type('#people-list input[name="name"]', ' Lima');
    await engine.until(SAVED);
    await engine.open(draft);
    await engine.until(`document.querySelector('#editor[data-ready]') !== null`);
    const stored = await engine.value<readonly string[]>(PEOPLE);
    t.true(stored[0]?.includes('Bruno Dias'), 'the stored draft has lost its people');
    t.is(stored[1], EXPECTED[1]);
    await engine.value(`document.querySelectorAll('.steps button')[3].click()`);
    await engine.press('#send');
    await engine.shows('The document is sent.');
    t.is((await program.acme.get<{ items: unknown[] }>('/api/documents')).items.length, 1);

    // A mailbox on another site leads there: the page asks once more for the cookie, and no more.
    await engine.open(await serveHost(t, `<a href="${program.url}/account/templates">Open</a>`));
    await engine.press('a');
    await engine.until(
      `location.pathname === '/account/templates' && document.querySelector('.account-main') !== null`,
    );

    // What was entered into other pages is there after Back, too. Firefox loads pages again that are sent with `no-store`.
    if (name === 'firefox') return;
    for (const [path, field] of [
      ['/organization/users', '#name'],
      ['/account/documents', 'input[name="q"]'],
    ] as const) {
      await engine.open(`${program.url}${path}`);
      await engine.type(field, 'someone');
      await engine.value(`document.querySelector('nav a[href^="/account/templates"]').click()`);
      await engine.until(`location.pathname === '/account/templates'`);
      await engine.back();
      await engine.until(`document.querySelector(${JSON.stringify(field)})?.value === 'someone'`);
    }
  });

  engineTest.serial(
    `forms over plain http to a host name work in ${name}, which sends no Sec-Fetch-Site`,
    async (t) => {
      const email = `eva@${name}.example`;
      const program = await ownOrganization(t.context, email, ADMINISTRATOR, 'Eva');
      const engine = await Engine.shared(name, { proxy: front.address });
      const { pathname, search } = new URL(await mailedLink(program, email));
      await engine.open('http://portal.test/sign-in');
      await engine.type('input[name="email"]', email);
      await engine.press('main form button[type="submit"]');
      await engine.until(
        `document.querySelector('input[name="email"]') === null && document.readyState === 'complete'`,
      );
      t.false(await engine.value(`document.body.innerText.includes('You may not do this')`));
      await engine.open(`http://portal.test${pathname}${search}`);
      await engine.press('main form button');
      await engine.until(`document.querySelector('.account-main') !== null`);
      await engine.open('http://portal.test/organization/users');
      await engine.type('#name', 'Bruno Dias');
      await engine.type('#email', 'bruno@example.org');
      await engine.press('#email ~ * button[type="submit"], main form:has(#email) button[type="submit"]');
      await engine.shows('bruno@example.org');

      // The pages of operators, and a filter that is restored.
      await engine.open('http://operators.test/login?ReturnUrl=%2Fjobs%3FfileName%3Dlease');
      await engine.type('input[type="password"]', await program.service.key());
      await engine.press('form button[type="submit"]');
      await engine.until(`document.querySelector('#filters [name="fileName"]')?.value === 'lease'`);
      await engine.value(`document.querySelector('nav a[href="/mails"], nav a[href="/actors"]').click()`);
      await engine.until(`location.pathname !== '/jobs'`);
      await engine.back();
      await engine.until(`document.querySelector('#filters [name="fileName"]')?.value === 'lease'`);
    },
  );
}
