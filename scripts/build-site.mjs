/**
 * Builds the documentation as a site of plain files: it opens from a folder, loads nothing from elsewhere, and has a search.
 *
 * npm run build && node scripts/build-site.mjs [<folder>]   default: dist-site
 *
 * The groups of the navigation are the headings of docs/README.md. A link to a file of the repository that is no page gets a copy of the file.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { Marked } from 'marked';
import { apiReference } from './site/api-reference.mjs';
import { postmanCollection } from './site/postman.mjs';

const ROOT = join(import.meta.dirname, '..');
const out = resolve(process.argv[2] ?? 'dist-site');
const built = (path) => import(pathToFileURL(join(ROOT, process.env.SEALWRIGHT_DIST ?? 'dist', path)).href);
const { batchDocument, portalDocument } = await built('test/http/descriptions.js');
const { withPartsInPlace } = await built('http/core/openapi/shared-parts.js');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Pages by their source. The front page is README.md. */
const sources = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CODE_OF_CONDUCT.md',
  'clients/README.md',
  'clients/mcp/README.md',
  'clients/n8n/README.md',
  'clients/opentelemetry/README.md',
  'web/README.md',
  'test/README.md',
  'runtime/README.md',
  'runtime/api.md',
  'crypto/README.md',
  'crypto/api.md',
  ...['bench', 'docs', 'test/requirements'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => `${folder}/${name}`),
  ),
].filter((source) => existsSync(join(ROOT, source)));
const targets = new Map(
  sources.map((source) => [source, source === 'README.md' ? 'index.html' : source.replace(/\.md$/, '.html')]),
);
const apis = [
  { name: 'batch', title: 'API of the batch service', document: batchDocument() },
  { name: 'portal', title: 'API of the portal', document: portalDocument() },
];
/** Pages of docs/ that became parts of others; their old addresses lead there. */
const MOVED = {
  containers: 'how-to.html#put-files-and-signatures-into-one-container-asic',
  extending: 'how-to.html#extend-signatures',
  generation: 'templates.html#make-documents-from-a-text-with-placeholders',
  'green-verdict': 'validation-report.html#what-a-green-verdict-means',
  'pdf-passwords': 'how-to.html#sign-encrypted-pdfs',
  scale: 'several-nodes.html#from-1-to-1000-nodes',
};
/** Files of the repository that pages lead to. */
const copied = new Set();
const pages = [...sources.map(readPage), ...(await Promise.all(apis.map(referencePages))).flat()];
const index = pages.find(({ target }) => target === 'docs/README.html');

rmSync(out, { recursive: true, force: true });
for (const page of pages) write(page.target, layout(page));
for (const file of copied) copy(file);
for (const file of ['style.css', 'page.js', 'theme.js'])
  cpSync(join(ROOT, 'scripts', 'site', file), join(out, file));
cpSync(join(ROOT, 'web', 'styles', 'tokens.css'), join(out, 'tokens.css'));
const letters = join(ROOT, process.env.SEALWRIGHT_DIST ?? 'dist', 'web', 'assets', 'portal');
for (const file of readdirSync(letters))
  if (/^fonts\.css$|^inter-.*\.woff2$/.test(file)) cpSync(join(letters, file), join(out, file));
for (const [from, to] of Object.entries(MOVED)) write(`docs/${from}.html`, movedPage(to));
await writeSearch();
write('llms.txt', llms());
for (const { name, document } of apis) {
  write(`api/${name}.json`, JSON.stringify(document));
  const collection = postmanCollection(withPartsInPlace(document), name);
  write(`api/${name}.postman_collection.json`, JSON.stringify(collection, null, 1));
}
console.log(`${pages.length} pages in ${out}`);

/** The pages of an API; the navigation has the overview. */
async function referencePages({ name, title, document }) {
  const overview = `api/${name}.html`;
  const made = await apiReference(withPartsInPlace(document), built, name);
  return made.map((page) => ({
    target: `api/${page.name}.html`,
    title: page.name === name ? title : page.title,
    html: page.html,
    overview,
  }));
}

function readPage(source) {
  const target = targets.get(source);
  let text = readFileSync(join(ROOT, source), 'utf8').replaceAll(/<!--.*?-->/gs, '');
  if (source === 'docs/decisions/README.md') text += `\n${decisions()}\n`;
  const ids = new Map();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: name }) {
        const id = slug(name, ids);
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="self" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${quoted(reach(source, href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: description }) {
        return `<img src="${quoted(reach(source, href))}" alt="${quoted(description)}" loading="lazy">`;
      },
    },
  });
  const html = namedTables(marked.parse(text))
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
  const [, title = source] = /^# (.+)$/m.exec(text) ?? [];
  return { source, target, title: title.replaceAll('`', ''), text, html };
}

/** Names each table by the heading before it, once on a page. A cell of its head without a word is no head of a column. */
function namedTables(html) {
  const names = new Map();
  let heading = '';
  const parts = /<h\d id="[^"]*">(.*?) <a class="self"|<table>|<th[^>]*><\/th>/g;
  return html.replaceAll(parts, (found, name) => {
    if (name !== undefined) heading = name.replaceAll(/<[^>]*>/g, '');
    if (found.startsWith('<th')) return found.replaceAll('th', 'td');
    if (found !== '<table>') return found;
    const count = (names.get(heading) ?? 0) + 1;
    names.set(heading, count);
    const label = `Table: ${heading}${count > 1 ? ` ${count}` : ''}`;
    return `<div class="wide" role="region" aria-label="${label}" tabindex="0"><table>`;
  });
}

/** A list of the decisions; where the repository is read, the folder is one. */
function decisions() {
  return sources
    .filter((source) => /^docs\/decisions\/\d/.test(source))
    .toSorted()
    .map((source) => {
      const [, title] = /^# (.+)$/m.exec(readFileSync(join(ROOT, source), 'utf8'));
      return `- [${title}](${posix.basename(source)})`;
    })
    .join('\n');
}

/** Address of a link of a page, from the page; files that are no pages are copied. */
function reach(source, href) {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path, anchor] = href.split('#', 2);
  let file = posix.join(dirname(source), path).replace(/\/$/, '');
  if (isFolder(file))
    file = existsSync(join(ROOT, file, 'README.md')) ? `${file}/README.md` : `${file}/index.html`;
  const target = targets.get(file) ?? file;
  if (!targets.has(file)) copied.add(file);
  const from = dirname(targets.get(source));
  return `${posix.relative(from, target) || posix.basename(target)}${anchor === undefined ? '' : `#${anchor}`}`;
}

function isFolder(path) {
  return existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory();
}

/** Copies a file; for a folder without a page, writes a list of its files and copies them. */
function copy(file) {
  const folder = join(ROOT, dirname(file));
  if (existsSync(join(ROOT, file))) {
    mkdirSync(join(out, dirname(file)), { recursive: true });
    cpSync(join(ROOT, file), join(out, file));
    return;
  }
  if (!file.endsWith('/index.html') || !existsSync(folder))
    throw new Error(`A page links to ${file}, which is not there`);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/node_modules|(^|\/)dist\//.test(name) && statSync(join(folder, name)).isFile())
    .sort();
  for (const name of names) {
    mkdirSync(join(out, dirname(file), dirname(name)), { recursive: true });
    cpSync(join(folder, name), join(out, dirname(file), name));
  }
  const items = names.map((name) => `<li><a href="${quoted(name)}">${quoted(name)}</a></li>`).join('\n');
  write(
    file,
    layout({
      target: file,
      title: dirname(file),
      html: `<h1>${quoted(dirname(file))}</h1><ul>${items}</ul>`,
    }),
  );
}

/** The id that GitHub gives to a heading. */
function slug(name, ids) {
  const plain = name.replaceAll(/<[^>]+>|\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  const id = plain
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
  const times = ids.get(id) ?? 0;
  ids.set(id, times + 1);
  return times === 0 ? id : `${id}-${times}`;
}

function layout({ target, title, html }) {
  const home = posix.relative(dirname(target), '.') || '.';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'none'">
<title>${quoted(title)} – sealwright</title>
<link rel="stylesheet" href="${home}/tokens.css">
<link rel="stylesheet" href="${home}/fonts.css">
<link rel="stylesheet" href="${home}/style.css">
<script src="${home}/theme.js"></script>
<script defer src="${home}/page.js"></script>
</head>
<body data-home="${home}">
<a class="skip" href="#main">Skip to content</a>
<header><a class="name" href="${home}/index.html"><strong>sealwright</strong> <small>${version}</small></a>
<search><label for="search">Search <kbd>/</kbd></label><input type="search" id="search" autocomplete="off"><ul id="found" aria-label="Found"></ul><p id="found-count" role="status"></p></search>
<button type="button" id="theme" hidden>Theme</button>
<button type="button" id="menu" aria-controls="contents" aria-expanded="false" hidden>Contents</button></header>
<div class="page">
<nav id="contents" aria-label="Documentation">${navigation(target)}</nav>
<main id="main" tabindex="-1">
${html}
</main>
${onThisPage(html)}</div>
</body>
</html>
`;
}

/** The sections of a long page, beside it where there is room. */
function onThisPage(html) {
  const sections = [...html.matchAll(/<h2 id="([^"]+)">(.*?) <a class="self"/g)];
  if (sections.length < 3) return '';
  const items = sections.map(
    ([, id, name]) => `<li><a href="#${id}">${name.replaceAll(/<[^>]+>/g, '')}</a></li>`,
  );
  return `<nav class="here" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>\n`;
}

/** @param to a page of the same folder with its place */
function movedPage(to) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=${to}">
<title>Moved – sealwright</title>
<p>This page is now part of <a href="${to}">another one</a>.</p>
</html>
`;
}

/** The lists of the index by its headings, with the references that are generated. */
function navigation(target) {
  const groups = [...index.text.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].map(
    ([, name, text]) => ({
      name,
      links: [...text.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].flatMap(([, , href]) => {
        const [path] = href.split('#');
        const page = pages.find(
          ({ source }) =>
            source === posix.join('docs', path) || source === posix.join('docs', path, 'README.md'),
        );
        return page === undefined ? [] : [page];
      }),
    }),
  );
  groups
    .find(({ name }) => name === 'Reference')
    ?.links.push(...pages.filter((page) => page.overview === page.target));
  // A page is listed once, where it is named first.
  const listed = new Set();
  for (const group of groups)
    group.links = group.links.filter((page) => !listed.has(page) && listed.add(page));
  const current = pages.find((page) => page.target === target)?.overview ?? target;
  const holder = groups.find(({ links }) => links.some((page) => page.target === current)) ?? groups[0];
  return groups
    .map((group) => {
      const items = group.links.map((page) => {
        const here = page.target === current ? ` aria-current="${current === target ? 'page' : 'true'}"` : '';
        const href = posix.relative(dirname(target), page.target) || posix.basename(page.target);
        return `<li><a href="${href}"${here}>${quoted(page.title)}</a></li>`;
      });
      const open = group === holder ? ' open' : '';
      return `<details${open}><summary>${quoted(group.name)}</summary><ul>${items.join('')}</ul></details>`;
    })
    .join('\n');
}

/** One script with the library and what it looks for: a page that was opened from a folder may not fetch. */
async function writeSearch() {
  const documents = pages.flatMap(({ target, title, html }) =>
    html.split(/(?=<h[23] id=)/).flatMap((part) => {
      const [, anchor = '', heading = ''] = /^<h[23] id="([^"]*)">(.*?) <a class="self"/.exec(part) ?? [];
      const place = { to: anchor === '' ? target : `${target}#${anchor}`, page: title };
      // A key or code that a table explains is found before the places that mention it.
      const rows = [...part.matchAll(/<tr>\s*<td><code>([^<]+)<\/code><\/td>(.*?)<\/tr>/gs)];
      return [
        { ...place, heading: plain(heading), text: plain(part) },
        ...rows.map(([, name, text]) => ({ ...place, heading: plain(name), text: plain(text) })),
      ];
    }),
  );
  const { outputFiles } = await build({
    stdin: {
      contents: `import MiniSearch from 'minisearch';
const documents = ${JSON.stringify(documents)};
// Codes and keys are words of their own, and so are their parts.
const words = (text) => text.split(/[\\s,;()"'|]+/);
const tokenize = (text) => words(text).flatMap((word) => [word, ...word.split(/[^\\p{L}\\p{N}_]+/u)]).filter(Boolean);
const search = new MiniSearch({ fields: ['heading', 'page', 'text'], storeFields: ['to', 'page', 'heading'], tokenize, searchOptions: { tokenize: words } });
search.addAll(documents.map((one, id) => ({ ...one, id })));
globalThis.find = (words) => search.search(words, { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { heading: 4, page: 2 }, boostDocument: (id) => /^docs\\/decisions|^api|^bench|^test|^CHANGELOG/.test(documents[id].to) ? 0.5 : 1 }).slice(0, 12);`,
      resolveDir: ROOT,
    },
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
  });
  write('search.js', outputFiles[0].text);
}

function plain(html) {
  return html
    .replaceAll(/<a class="self".*?<\/a>|<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Source: https://llmstxt.org. */
function llms() {
  const first = (page) => plain(/<p>(.*?)<\/p>/s.exec(page.html)?.[1] ?? page.title).split(/(?<=\.) /)[0];
  const list = (some) => some.map((page) => `- [${page.title}](${page.target}): ${first(page)}`).join('\n');
  const decisions = pages.filter(({ target }) => target.startsWith('docs/decisions/'));
  const others = pages.filter((page) => !decisions.includes(page));
  const [front] = pages;
  return `# sealwright\n\n> ${first(front)} ${version}\n\n## Pages\n\n${list(others)}\n\n## Optional\n\n${list(decisions)}\n`;
}

function quoted(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function write(name, text) {
  mkdirSync(join(out, dirname(name)), { recursive: true });
  writeFileSync(join(out, relative('.', name)), text);
}
