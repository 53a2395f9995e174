/**
 * A website that shows the signing page of the portal inside a page of its own.
 *
 * PORTAL_URL=http://127.0.0.1:8090 PORTAL_KEY=… node embedded-signing.mjs contract.pdf [port]
 *
 * It makes one document, which Ana signs in the page. The key stays on the server: the browser gets an address that is valid for a day.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';

const [file = '', port = '8092'] = process.argv.slice(2);
const portal = process.env.PORTAL_URL ?? 'http://127.0.0.1:8090';
const person = { name: 'Ana', identifier: '12345', email: 'ana@example.com' };

async function ask(path, body) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${portal}${path}`, {
    method: 'POST',
    headers: {
      'X-Api-Key': process.env.PORTAL_KEY ?? '',
      ...(!isForm && { 'Content-Type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

const form = new FormData();
form.set('file', new Blob([readFileSync(file)], { type: 'application/pdf' }), basename(file));
const { id, name, contentType } = await ask('/api/uploads', form);
const [{ documentId }] = await ask('/api/documents', {
  files: [{ id, displayName: 'Your contract', name, contentType }],
  flowActions: [{ type: 'Signer', step: 1, user: person, allowElectronicSignature: true }],
  // The page takes Ana to the document; no mail does.
  disablePendingActionNotifications: true,
});

const page = (embedUrl) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Your contract</title>
<h1>Your contract</h1>
<p id="state" role="status">Read it, then sign below.</p>
<div id="signing" style="height: 48rem"></div>
<script src="${portal}/widget.js"></script>
<script>
  const say = (text) => { document.getElementById('state').textContent = text; };
  const widget = new SealwrightWidget({ refusal: true });
  widget.on('documentSigned', () => say('Thank you. You signed the contract.'));
  widget.on('documentRefused', () => say('You refused the contract.'));
  widget.render(${JSON.stringify(embedUrl).replaceAll('<', '\\u003c')}, 'signing');
</script>
`;

const server = createServer(async (request, response) => {
  try {
    if (request.url !== '/') return response.writeHead(404).end();
    // A page decides here who the visitor is: the address opens the document without a login.
    const { embedUrl } = await ask(`/api/documents/${documentId}/action-url`, { emailAddress: person.email });
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
    return response.writeHead(200, headers).end(page(embedUrl));
  } catch (error) {
    console.error(error);
    return response.writeHead(502).end('The portal does not answer.');
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
