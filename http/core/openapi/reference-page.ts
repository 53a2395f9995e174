/**
 * Reference page of an API: one document, so that the browser's search works, with a filter on top. It loads nothing
 * from other hosts.
 */

import { isOperation, mayCall } from '../../../contracts/batch/access.ts';
import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import { type Frame, framedPage, type LinkGroup } from '../../../web/pages/batch/layout.tsx';
import type { OpenApiDocument } from './document.ts';
import { type OperationView, operationView } from './operation-view.ts';
import { richText, schemaView } from './schema-view.ts';
import type { Schema } from './schemas.ts';
import { withPartsInPlace } from './shared-parts.ts';

export function referencePage(
  document: OpenApiDocument,
  frame: {
    readonly path: string;
    readonly groups: readonly LinkGroup[];
    readonly documentPath: string;
    readonly assets?: string;
    readonly keyHeader?: string;
    /** Scopes of the reader, who gets no form for what they do not permit. @default all */
    readonly scopes?: Frame['scopes'];
  },
): string {
  const { info, tags, paths, components } = withPartsInPlace(document);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => ({ method, path, operation: operation as OperationView }) as const,
    ),
  );
  const groups = tags.map(({ name, description }) => {
    const members = operations.filter(({ operation }) => operation.tags.includes(name));
    return { name, description, members };
  });
  const index = groups.map(
    ({ name, members }) =>
      html`<li><a href="#${groupId(name)}">${name}</a><ul>${members.map(
        ({ method, path, operation }) =>
          html`<li data-for="${operation.operationId}"><a href="#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> ${path}</a></li>`,
      )}</ul></li>`,
  );
  const mayTry = (method: string, path: string) => {
    const name = `${method.toUpperCase()} ${path}`;
    return frame.scopes === undefined || !isOperation(name) || mayCall(frame.scopes, name);
  };
  const sections = groups.map(
    ({ name, description, members }) => html`<section aria-labelledby="${groupId(name)}">
<h2 id="${groupId(name)}">${name}</h2><p>${richText(description)}</p>
${lines(members.map(({ method, path, operation }) => operationView(method, path, operation, mayTry(method, path))))}
</section>`,
  );
  const main = html`<div class="reference">
<aside>
<label for="search">Search</label>
<input id="search" type="search" placeholder="path, word or code" autocomplete="off" aria-describedby="found">
<p id="found" role="status"></p>
<nav aria-label="Operations"><ul>${index}<li><a href="#schemas">Schemas</a></li></ul></nav>
</aside>
<div>
<h1>${info.title} <small>${info.version}</small></h1>
<p>${richText(info.description)}</p>
<p>For programs: <a href="${frame.documentPath}"><code>${frame.documentPath}</code></a> (OpenAPI ${document.openapi}).</p>
${frame.keyHeader === undefined ? undefined : keyField(frame.keyHeader)}
${lines(sections)}
<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>
${lines(
  Object.entries(components['schemas'] ?? {}).map(
    ([name, schema]) =>
      html`<article id="schema-${name}"><h3>${name}</h3>${schemaView(schema as Schema)}</article>`,
  ),
)}
</section>
</div>
</div>`;
  return framedPage({
    title: 'API reference',
    path: frame.path,
    groups: frame.groups,
    search: false,
    ...(frame.assets !== undefined && { assets: frame.assets }),
    session: frame.keyHeader === undefined,
    scopes: frame.scopes,
    version: info.version,
    styles: ['pages.css', 'reference.css'],
    script: 'reference.js',
    main,
  });
}

/** An API key for the forms below; it stays in the page. */
function keyField(header: string): Html {
  return html`<p><label for="api-key">${header}</label> <input id="api-key" type="password" data-header="${header}" autocomplete="off" spellcheck="false"></p>`;
}

function groupId(name: string): string {
  return `group-${name.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}`;
}
