/** A PDF is a PDF by its content, whatever type it was declared with. Source: docs/decisions/0319-types-by-content.md. */
import test from 'ava';
import { isPdfContent } from '../../../../actors/shared/files/pdf-content.ts';
import { type Client, SAMPLE, sharedProgram } from '../../../actors/portal/service.ts';
import { assertRefused } from '../../refused.ts';
import { ticketOf } from './certificate-client.ts';

const PDF = SAMPLE.content;
const behind = (text: string | Buffer) => Buffer.concat([Buffer.from(text), PDF]);
/** The local header of a member that is stored as it is. */
const zipped = behind(Buffer.from('504b03040a0000000000000000000000000000000000000000000500000061', 'hex'));
const polyglot = behind('<html><script>alert(1)</script><!--\n');
const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };

for (const [what, content, name, contentType, expected] of [
  ['declared as bytes', PDF, 'a', 'application/octet-stream', true],
  ['declared as x-pdf', PDF, 'a', 'application/x-pdf', true],
  ['declared as HTML', PDF, 'a.html', 'text/html', true],
  ['behind white space', behind(' \r\n\n'), 'a', 'text/plain', true],
  ['behind a byte order mark', behind('\ufeff'), 'a', 'text/plain', true],
  ['behind other lines, declared as bytes', behind('@PJL\n'), 'a', 'application/octet-stream', true],
  ['behind other lines, declared as a picture', behind('@PJL\n'), 'a', 'image/png', false],
  ['behind other lines, by its name', behind('@PJL\n'), 'a.PDF', 'image/png', true],
  ['at byte 1,019', behind(`${' '.repeat(1018)}\n`), 'a', 'text/plain', true],
  ['at byte 1,020', behind(`${' '.repeat(1019)}\n`), 'a', 'text/plain', false],
  ['in a sentence', Buffer.from('a %PDF-1.7 file'), 'a', 'application/octet-stream', false],
  ['in a ZIP file', zipped, 'a.pdf', 'application/octet-stream', false],
  ['in HTML', polyglot, 'a.pdf', 'application/octet-stream', false],
  ['in XML', behind('<?xml version="1.0"?><a>\n'), 'a.pdf', 'application/octet-stream', false],
] as const) {
  test(`a PDF ${what} is ${expected ? 'a' : 'no'} PDF`, (t) => {
    t.is(isPdfContent(Buffer.from(content), { name, contentType }), expected);
  });
}

async function shownType(acme: Client, id: string): Promise<unknown> {
  const { key, ticket } = await ticketOf(acme, id, ANA.user.email);
  const page = await (await fetch(`${acme.url}/document/key/${key}/sign?ticket=${ticket}`)).text();
  const [, data = ''] = /<script[^>]*id="page-data"[^>]*>([^<]*)</.exec(page) ?? [];
  const { mimeType, content } = JSON.parse(data) as { mimeType: string; content: string };
  const file = await fetch(`${acme.url}${content}`);
  return [mimeType, file.headers.get('content-type'), file.headers.get('x-content-type-options')];
}

test('a PDF declared as another type is shown, sent, merged and combined as PDF; records keep the declared type', async (t) => {
  const { acme } = await sharedProgram(t);
  const made = [];
  for (const type of ['application/octet-stream', 'application/x-pdf', 'text/html']) {
    const id = await acme.create([ANA], {}, { name: 'lease', content: PDF, type });
    made.push(id);
    t.deepEqual(await shownType(acme, id), ['application/pdf', 'application/pdf', 'nosniff'], type);
    t.like(await acme.get(`/api/documents/${id}`), { mimeType: type });
    const original = await acme.fetch(`/api/documents/${id}/content`);
    t.is(original.headers.get('content-type'), 'application/pdf');
    t.deepEqual(Buffer.from(await original.arrayBuffer()), PDF);
  }
  const combined = await acme.send('/api/documents/combined', { documents: made });
  t.is(combined.status, 200, await combined.text());
  const files = [];
  for (const type of ['application/octet-stream', 'application/x-pdf'])
    files.push({ ...(await acme.upload({ name: 'lease', content: PDF, type })), displayName: 'Lease' });
  const envelope = { files, isEnvelope: true, envelopeName: 'Both', flowActions: [ANA] };
  const [{ documentId = '' } = {}] = await acme.post<{ documentId: string }[]>('/api/documents', envelope);
  t.is((await acme.get<{ mimeType: string }>(`/api/documents/${documentId}`)).mimeType, 'application/pdf');
  const text = await acme.upload({ name: 'a.pdf', content: Buffer.from('words'), type: 'text/plain' });
  const mixed = { ...envelope, files: [files[0], { ...text, displayName: 'Text' }] };
  await assertRefused(t, await acme.send('/api/documents', mixed), 'EnvelopeRequiresPdf');
});

test('the preview of a PDF declared as HTML is a PDF, and HTML that holds a PDF runs no scripts', async (t) => {
  const { acme, url } = await sharedProgram(t);
  const preview = async (content: Uint8Array) => {
    const { location } = await acme.upload({ name: 'a.html', content, type: 'text/html' });
    return (await fetch(`${url}${location}`)).headers;
  };
  const honest = await preview(PDF);
  t.is(honest.get('content-type'), 'application/pdf');
  const hostile = await preview(polyglot);
  t.is(hostile.get('content-type'), 'text/html');
  t.regex(hostile.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/);
  t.is(hostile.get('x-content-type-options'), 'nosniff');
});

test('a file in segments is a PDF by its content, also where the first segment ends in the header', async (t) => {
  const { acme, url } = await sharedProgram(t);
  const ticket = await acme.post<string>('/api/uploads/segmented-upload-ticket', {});
  const piece = async (from: number, to: number) => {
    const body = new FormData();
    body.set('content', new Blob([new Uint8Array(PDF.subarray(from, to))]), 'lease');
    const headers = { 'content-range': `bytes ${from}-${to - 1}/${PDF.length}` };
    return fetch(`${url}/api/uploads?ticket=${ticket}`, { method: 'POST', headers, body });
  };
  await piece(3, PDF.length);
  const { location } = (await (await piece(0, 3)).json()) as { location: string };
  t.is((await fetch(`${url}${location}`)).headers.get('content-type'), 'application/pdf');
});
