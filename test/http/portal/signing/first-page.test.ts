/** The picture of the first page, and whom an incomplete link names. Source: docs/decisions/0430-picture-of-the-first-page.md. */
import { brotliDecompressSync } from 'node:zlib';
import test from 'ava';
import { sharedProgram } from '../../../actors/portal/service.ts';
import { classicPdf, clausePdf, documentObjects, PAGE_NUMBER, stream } from '../../../crypto/pdf/build.ts';
import { reached } from '../../../project/waiting.ts';
import { assertRefused } from '../../refused.ts';
import { ticketOf } from './certificate-client.ts';

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };

test('the page of a link begins with the picture of the first page, which its ticket alone opens', async (t) => {
  const { acme } = await sharedProgram(t);
  const content = clausePdf(2);
  const id = await acme.create([ANA], {}, { name: 'lease', content, type: 'application/pdf' });
  const { key, ticket } = await ticketOf(acme, id, ANA.user.email);
  const path = `/document/key/${key}/first-page`;
  const look = async (query: string) => (await fetch(`${acme.url}/document/key/${key}/sign?${query}`)).text();
  let html = '';
  // A busy thread may read the size after the page has stopped waiting; the next visit has it.
  await reached(async () => {
    html = await look(`ticket=${ticket}`);
    return html.includes('first-page');
  });
  t.regex(html, /<svg class="sheet-of" viewBox="0 0 595 842"/);
  t.regex(html, /<img class="sheet-of" src="[^"]*\/first-page\?ticket=/);
  // Likewise the picture.
  await reached(async () => {
    const answer = await fetch(`${acme.url}${path}?ticket=${ticket}`);
    await answer.arrayBuffer();
    return answer.status === 200;
  });
  t.regex(
    await look(`ticket=${ticket}`),
    /<link rel="preload" as="image"[^>]* href="[^"]*\/first-page\?ticket=/,
  );
  t.notRegex(await look(`ticket=${ticket}&page=2`), /first-page/);
  t.notRegex(await look(`ticket=${ticket}&scale=150`), /first-page/);
  t.notRegex(await look(`ticket=${ticket}&preview=true`), /first-page/);

  const [packed, plain] = await Promise.all(
    ['br', 'identity'].map((coding) =>
      fetch(`${acme.url}${path}?ticket=${ticket}`, { headers: { 'accept-encoding': coding } }),
    ),
  );
  t.is(packed?.status, 200);
  t.is(packed?.headers.get('content-type'), 'image/svg+xml');
  t.is(packed?.headers.get('content-encoding'), 'br');
  // A shared computer does not keep a confidential page.
  for (const answer of [packed, plain]) t.is(answer?.headers.get('cache-control'), 'no-store');
  t.not(plain?.headers.get('etag'), packed?.headers.get('etag'));
  t.regex(packed?.headers.get('content-security-policy') ?? '', /^default-src 'none'; .*sandbox$/);
  const text = (await plain?.text()) ?? '';
  t.regex(text, /^<svg .*<\/svg>$/s);
  const bytes = Buffer.from((await packed?.arrayBuffer()) ?? new ArrayBuffer(0));
  // `fetch` may have unpacked it.
  const first = bytes.toString().startsWith('<svg') ? bytes : brotliDecompressSync(bytes);
  t.is(first.toString(), text);
  await assertRefused(t, await fetch(`${acme.url}${path}?ticket=wrong`), 'InvalidTicket');
  const again = await fetch(`${acme.url}${path}?ticket=${ticket}`, {
    headers: { 'accept-encoding': 'br', 'if-none-match': packed?.headers.get('etag') ?? '' },
  });
  t.is(again.status, 304);
  t.is(again.headers.get('cache-control'), 'no-store');
});

test('a page without a picture begins with its size, also when it is rotated or long', async (t) => {
  const { acme } = await sharedProgram(t);
  const objects = documentObjects();
  const page = objects.get(PAGE_NUMBER) ?? '';
  objects.set(PAGE_NUMBER, page.replace('[0 0 200 200]', '[0 0 595 842] /Rotate 90'));
  objects.set(50, stream('', '%'.repeat(5 << 20)));
  const content = classicPdf(objects);
  const id = await acme.create([ANA], {}, { name: 'scan', content, type: 'application/pdf' });
  const { key, ticket } = await ticketOf(acme, id, ANA.user.email);
  let html = '';
  await reached(async () => {
    html = await (await fetch(`${acme.url}/document/key/${key}/sign?ticket=${ticket}`)).text();
    return html.includes('sheet-of');
  });
  t.regex(html, /<svg class="sheet-of" viewBox="0 0 842 595"/);
  t.notRegex(html, /first-page/);
});

test('a file that is no PDF has no picture, and its page asks for none', async (t) => {
  const { acme } = await sharedProgram(t);
  const file = { name: 'note.txt', content: Buffer.from('hello'), type: 'text/plain' };
  const id = await acme.create([ANA], {}, file);
  const { key, ticket } = await ticketOf(acme, id, ANA.user.email);
  const html = await (await fetch(`${acme.url}/document/key/${key}/sign?ticket=${ticket}`)).text();
  t.notRegex(html, /first-page/);
  const answer = await fetch(`${acme.url}/document/key/${key}/first-page?ticket=${ticket}`);
  await assertRefused(t, answer, 'NotFound');
});

test('an incomplete link names the organization of its document, and an unknown one names nobody', async (t) => {
  const { acme } = await sharedProgram(t);
  const id = await acme.create([ANA]);
  const { key, ticket } = await ticketOf(acme, id, ANA.user.email);
  const look = async (path: string) => {
    const answer = await fetch(`${acme.url}/document/key/${path}`);
    t.is(answer.status, 404);
    return answer.text();
  };
  for (const cut of ['', `?ticket=${ticket.slice(0, 20)}`])
    t.regex(await look(`${key}/sign${cut}`), /If you have a question, ask /, cut);
  t.notRegex(await look(`AAAAAAAAAAAAAAAAAAAA/sign`), /If you have a question/);
});
