/** Branding of an organization: logo, colors, texts of mails, and the page after signing. Source: docs/decisions/0130-branding.md. */
import { crc32, deflateSync } from 'node:zlib';
import test from 'ava';
import { AA_CONTRAST, contrast } from '../../../../actors/portal/shared/contrast.ts';
import { until } from '../../../actors/portal/service.ts';
import { turnedJpeg } from '../../../crypto/pades/appearance/appearance-jpegs.ts';
import { assertRefused } from '../../refused.ts';
import { ticketOf } from '../signing/certificate-client.ts';
import { type ClockedPortal, clientOf, clockedPortal, untilMailed } from './clocked-portal.ts';

const ANA = [{ user: { name: 'Ana <b>', email: 'ana@example.org' }, allowElectronicSignature: true }];

let portal: ClockedPortal;
const ends: (() => unknown)[] = [];
test.before(async () => {
  portal = await clockedPortal({ teardown: (end) => ends.push(end) });
});
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

async function pathOf(client = portal.client): Promise<string> {
  const id = await client.create(ANA, { disablePendingActionNotifications: true });
  const { organization } = await client.get<{ organization: { id: string } }>(`/api/documents/${id}`);
  return `/api/organizations/${organization.id}/branding`;
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

/** A grey PNG with a comment, and bytes after its end. */
function png(width: number, height: number, samples = height * (width + 1)): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('tEXt', Buffer.from('Comment\0<script>')),
    chunk('IDAT', deflateSync(Buffer.alloc(samples))),
    chunk('IEND', Buffer.alloc(0)),
    Buffer.from('<script>after</script>'),
  ]);
}

const put = (path: string, body: object) => portal.client.send(path, body, 'PUT');

test.serial('a logo is a validated PNG or JPEG, re-encoded without metadata', async (t) => {
  const path = await pathOf();
  const logo = (bytes: Buffer) => put(`${path}/logo`, { bytes: bytes.toString('base64') });
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>');
  for (const [file, words] of [
    [svg, /neither a PNG nor a JPEG/],
    [png(1201, 2), /1201 x 2 pixels; at most 1200 x 600/],
    [png(4, 4, 5), /damaged PNG/],
    [png(4, 4).subarray(0, 60), /damaged PNG/],
    [Buffer.concat([png(4, 4), Buffer.alloc(64 * 1024)]), /at most 65536/],
    [Buffer.from('ffd8ffe000104a46494600', 'hex'), /damaged JPEG/],
    [turnedJpeg(6, 'II'), /turned by its metadata only/],
  ] as const)
    t.regex((await assertRefused(t, await logo(file), 'InvalidBranding')).message, words);
  t.is((await logo(turnedJpeg(1, 'II'))).status, 200);
  t.is((await logo(png(300, 100))).status, 200);
  const own = await portal.client.get<{ logo: object }>(path);
  t.deepEqual(own.logo, { contentType: 'image/png', width: 300, height: 100 });
  const [, organization] = /organizations\/([^/]+)/.exec(path) ?? [];
  const served = await fetch(`${portal.client.url}/document/branding/${organization}/logo`);
  t.is(served.headers.get('content-type'), 'image/png');
  const bytes = Buffer.from(await served.arrayBuffer());
  t.false(bytes.includes('script'));
  t.true(bytes.includes('IEND'));
  const nobody = `${portal.client.url}/document/branding/${crypto.randomUUID()}/logo`;
  t.is((await fetch(nobody)).status, 404);
  t.is((await portal.client.fetch(`${path}/logo`, { method: 'DELETE' })).status, 200);
  t.is((await portal.client.get<{ logo: null }>(path)).logo, null);
});

test.serial('a color with low contrast is refused with a suggested shade', async (t) => {
  const path = await pathOf();
  const { message } = await assertRefused(t, await put(path, { primaryColor: '#8FBFF7' }), 'InvalidBranding');
  const [shade = ''] = /#[0-9a-f]{6}(?= has it)/.exec(message) ?? [];
  t.true(contrast(shade, '#ffffff') >= AA_CONTRAST, message);
  await assertRefused(t, await put(path, { primaryColor: 'red' }), 'InvalidBranding');
  t.is((await put(path, { primaryColor: shade, headerColor: '#ffcc00' })).status, 200);
  const [, organization] = /organizations\/([^/]+)/.exec(path) ?? [];
  const css = await (await fetch(`${portal.client.url}/document/branding/${organization}/colors.css`)).text();
  t.true(css.includes(`--brand: ${shade}; --on-brand: #ffffff;`) && css.includes('--on-header: #000000'));
  const [, dark = ''] = /data-theme="dark"\] \{ --brand: (#\w+)/.exec(css) ?? [];
  for (const ground of ['#232323', '#06182e']) t.true(contrast(dark, ground) >= AA_CONTRAST, dark);
  const id = await portal.client.create(ANA, { disablePendingActionNotifications: true });
  const { key, ticket } = await ticketOf(portal.client, id, 'ana@example.org');
  const page = await fetch(`${portal.client.url}/document/key/${key}/sign?ticket=${ticket}`);
  t.regex(page.headers.get('content-security-policy') ?? '', /style-src 'self'; img-src 'self' blob: data:;/);
  t.true((await page.text()).includes(`/document/branding/${organization}/colors.css?v=`));
});

test.serial(
  'the pages for marks, the editor and the check have the branding of the organization',
  async (t) => {
    const { client } = portal;
    const path = await pathOf();
    const [, organization] = /organizations\/([^/]+)/.exec(path) ?? [];
    await put(path, { primaryColor: '#7a1f5c' });
    await put(`${path}/logo`, { bytes: png(300, 100).toString('base64') });
    const { id: upload, name, contentType } = await client.upload();
    const files = [{ id: upload, name, contentType, displayName: 'Lease' }];
    const marks = await client.post<{ embedUrl: string }>('/api/marks-sessions', { files, flowActions: ANA });
    const editor = await client.post<{ url: string; embedUrl: string }>('/api/editor-sessions', { files });
    const id = await client.create(ANA, { disablePendingActionNotifications: true });
    const { key } = await ticketOf(client, id, 'ana@example.org');
    const { flowActions } = await client.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
    const body = { flowActionId: flowActions[0]?.id };
    t.is((await client.send(`/api/documents/${id}/electronic-signature`, body)).status, 200);
    const pageOf = async (address: string) => {
      const { pathname, search } = new URL(address, client.url);
      const answer = await fetch(`${client.url}${pathname}${search}`);
      return answer.status === 200 ? answer.text() : undefined;
    };
    for (const [address, hasLogo] of [
      [marks.embedUrl, false],
      [editor.embedUrl, false],
      [editor.url, true],
      [`/check/${key}`, true],
    ] as const) {
      const text = await until(() => pageOf(address));
      t.true(text.includes(`/document/branding/${organization}/colors.css?v=7a1f5c`), address);
      t.is(text.includes(`/document/branding/${organization}/logo?v=`), hasLogo, address);
    }
  },
);

test.serial('mails have the texts of the organization, with placeholders and fixed links', async (t) => {
  const path = await pathOf();
  const kind = 'pending';
  const texts = (subject: string, introduction: string) =>
    put(path, { mailTexts: [{ kind, subject, introduction }] });
  for (const [subject, words] of [
    ['{name}', /unknown placeholder \{name\}; known are \{document\}, /],
    ['a { b', /single brace/],
    ['a } b', /single brace/],
    ['{'.repeat(199), /single brace/],
    ['{by}'.repeat(21), /more than 20 placeholders/],
  ] as const)
    t.regex((await assertRefused(t, await texts(subject, 'x'), 'InvalidBranding')).message, words);
  const introduction = 'Dear {recipient}, <i>please</i> read {{this}}: {document}.\n\nYours, {organization}';
  t.is((await texts('Acme asks: {document}', introduction)).status, 200);
  await put(`${path}/logo`, { bytes: png(300, 100).toString('base64') });
  const id = await portal.client.create(ANA);
  await untilMailed(portal, id, 'pending', 1);
  const mail = portal.fixture.mails.at(-1);
  t.regex(mail?.subject ?? '', /^Acme asks: .*Vertrag ä\.pdf/u);
  t.regex(mail?.text ?? '', /<i>please<\/i> read \{this\}: /);
  t.regex(mail?.text ?? '', /\/sign\?ticket=/);
  t.regex(mail?.html ?? '', /&lt;i&gt;please&lt;\/i&gt; read \{this\}: /);
  t.regex(mail?.html ?? '', /Ana &lt;b&gt;/);
  t.regex(mail?.html ?? '', /<img src="cid:logo@branding" alt="Org" width="144" height="48"\/>/);
  t.is(mail?.logo?.contentType, 'image/png');
});

test.serial('a preview shows the mail with unsaved texts, and sends nothing', async (t) => {
  const path = await pathOf();
  const before = portal.fixture.mails.length;
  const request = { kind: 'canceled', subject: 'Over: {document}', introduction: 'Because {reason}' };
  const shown = await portal.client.post<{ subject: string; text: string; html: string }>(
    `${path}/preview`,
    request,
  );
  t.regex(shown.subject, /^Over: .*Rental agreement/u);
  t.regex(shown.text, /Because The amount is wrong\./);
  t.regex(shown.html, /<!doctype html>/);
  const spanish = await portal.client.post<{ text: string }>(`${path}/preview`, {
    kind: 'code',
    language: 'es',
  });
  t.regex(spanish.text, /Hola/);
  t.is(portal.fixture.mails.length, before);
  const wrong = await portal.client.send(`${path}/preview`, { ...request, subject: '{x}' });
  await assertRefused(t, wrong, 'InvalidBranding');
});

test.serial(
  'the page after signing has a listed origin, and other organizations cannot change it',
  async (t) => {
    const path = await pathOf();
    const redirectUrl = 'https://app.example.org/done?x=1';
    const refused = await assertRefused(t, await put(path, { redirectUrl }), 'InvalidBranding');
    t.regex(
      refused.message,
      /https:\/\/app\.example\.org of the RedirectUrl is not one of the RedirectOrigins/,
    );
    for (const origin of [
      'https://app.example.org/path',
      'http://app.example.org',
      'javascript:alert(1)',
      'x',
    ])
      await assertRefused(t, await put(path, { redirectOrigins: [origin] }), 'InvalidBranding');
    for (const url of ['javascript:alert(1)', 'https://u:p@app.example.org/'])
      await assertRefused(
        t,
        await put(path, { redirectUrl: url, redirectOrigins: ['https://app.example.org'] }),
        'InvalidBranding',
      );
    const redirectOrigins = ['https://app.example.org'];
    t.is((await put(path, { redirectUrl, redirectOrigins })).status, 200);
    const id = await portal.client.create(ANA, { disablePendingActionNotifications: true });
    const { key, ticket } = await ticketOf(portal.client, id, 'ana@example.org');
    const shown = async (page: string) =>
      (
        await (await fetch(`${portal.client.url}/document/key/${key}/${page}?ticket=${ticket}`)).text()
      ).includes(`"redirectUrl":"${redirectUrl}"`);
    t.true(await shown('sign'));
    t.false(await shown('sign-embedded'), 'the parent of an embedded page is told by messages');
    const other = clientOf(portal, 'Other');
    await assertRefused(t, await other.fetch(path), 'OrganizationNotFound');
    await assertRefused(t, await other.send(path, {}, 'PUT'), 'OrganizationNotFound');
    await assertRefused(t, await other.send(`${path}/preview`, { kind: 'code' }), 'OrganizationNotFound');
  },
);
