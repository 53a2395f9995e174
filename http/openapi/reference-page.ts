/**
 * The description as a page for people: everything in one document, so that the browser's own search works, and a
 * filter on top of it. Nothing is fetched from elsewhere.
 */
import { escapeHtml } from '../html.ts';
import { framedPage, type PageLink } from '../pages/layout.ts';
import type { OpenApiDocument } from './document.ts';
import { type OperationView, operationView } from './operation-view.ts';
import { richText, schemaView } from './schema-view.ts';
import type { Schema } from './schemas.ts';

export function referencePage(
  document: OpenApiDocument,
  frame: {
    readonly path: string;
    readonly links: readonly PageLink[];
    readonly documentPath: string;
    readonly assets?: string;
    readonly keyHeader?: string;
  },
): string {
  const { info, tags, paths, components } = document;
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
      `<li><a href="#${groupId(name)}">${escapeHtml(name)}</a><ul>${members
        .map(
          ({ method, path, operation }) =>
            `<li data-for="${operation.operationId}"><a href="#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> ${escapeHtml(path)}</a></li>`,
        )
        .join('')}</ul></li>`,
  );
  const sections = groups.map(
    ({ name, description, members }) => `<section aria-labelledby="${groupId(name)}">
<h2 id="${groupId(name)}">${escapeHtml(name)}</h2><p>${richText(description)}</p>
${members.map(({ method, path, operation }) => operationView(method, path, operation)).join('\n')}
</section>`,
  );
  const main = `<div class="reference">
<aside>
<label for="search">Search</label>
<input id="search" type="search" placeholder="path, word or code" autocomplete="off" aria-describedby="found">
<p id="found" role="status"></p>
<nav aria-label="Operations"><ul>${index.join('')}<li><a href="#schemas">Schemas</a></li></ul></nav>
</aside>
<div>
<h1>${escapeHtml(info.title)} <small>${escapeHtml(info.version)}</small></h1>
<p>${richText(info.description)}</p>
<p>For programs: <a href="${frame.documentPath}"><code>${frame.documentPath}</code></a> (OpenAPI ${document.openapi}).</p>
${frame.keyHeader === undefined ? '' : keyField(frame.keyHeader)}
${sections.join('\n')}
<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>
${Object.entries(components['schemas'] ?? {})
  .map(
    ([name, schema]) =>
      `<article id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${schemaView(schema as Schema)}</article>`,
  )
  .join('\n')}
</section>
</div>
</div>`;
  return framedPage({
    title: 'API reference',
    path: frame.path,
    links: frame.links,
    ...(frame.assets !== undefined && { assets: frame.assets }),
    session: frame.keyHeader === undefined,
    version: info.version,
    styles: ['pages.css', 'reference.css'],
    scripts: ['reference.js'],
    main,
  });
}

/** A key for the forms below; it stays in the page. */
function keyField(header: string): string {
  return `<p><label for="api-key">${header}</label> <input id="api-key" type="password" data-header="${header}" autocomplete="off" spellcheck="false"></p>`;
}

function groupId(name: string): string {
  return `group-${name.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}`;
}
