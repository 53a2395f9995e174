/** Other sites, which embed the pages. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { PagesServer } from '../pages-server.ts';

/** A page of another site with the widget; returns its origin. */
export async function openHost(t: ExecutionContext, site: PagesServer, script: string): Promise<string> {
  const html = `<!doctype html><title>Host</title><ol id="heard"></ol><div id="place" style="height:40rem"></div>
<script src="${site.url}/widget.js"></script>
<script>
const embedUrl = ${JSON.stringify(`${site.url}${site.embedPath}`)};
const note = (message) => {
  const item = document.createElement('li');
  item.textContent = JSON.stringify(message);
  document.querySelector('#heard').append(item);
};
${script}
</script>`;
  return serveHost(t, html);
}

/** Serves a page on another site; returns its origin. */
export async function serveHost(t: Pick<ExecutionContext, 'teardown'>, html: string): Promise<string> {
  const server = createServer((request, response) => {
    const isPage = request.url?.split('?')[0] === '/';
    response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(isPage ? html : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.2:${(server.address() as AddressInfo).port}`;
}
