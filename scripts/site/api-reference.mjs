/** The reference of an API, from its OpenAPI document, with the views of the running service: an overview, a page for each tag, and the schemas. */

import { answerExample, example, requestExample } from './examples.mjs';

/**
 * Returns the pages, the overview first: name, title and HTML. `built` imports a module of the build; `name` is that of the
 * overview, with which the names of the others begin.
 */
export async function apiReference(document, built, name) {
  const { schemaView, richText } = await built('http/core/openapi/schema-view.js');
  const words = (text) => richText(text).text;
  const view = (schema) =>
    schemaView(schema).text.replaceAll('href="#schema-', `href="${name}-schemas.html#schema-`);
  return pagesOf(document, { words, view, operationView: operationViewer({ words, view }) }, name);
}

function heading(depth, id, inner) {
  return `<h${depth} id="${id}">${inner} <a class="self" href="#${id}" aria-label="Link to this section">#</a></h${depth}>`;
}

function pagesOf({ info, tags, paths, components }, { words, view, operationView }, name) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
    })),
  );
  const above = `<p><a href="${name}.html">${info.title}</a></p>`;
  const groups = tags.map((tag) => ({
    ...tag,
    page: `${name}-${tag.name.toLowerCase().replaceAll(/\W+/g, '-')}`,
    members: operations.filter((one) => one.tags.includes(tag.name)),
  }));
  const lists = groups.flatMap(({ name: group, description, page, members }) => [
    heading(2, `tag-${page.slice(name.length + 1)}`, `<a href="${page}.html">${group}</a>`),
    `<p>${words(description)}</p>`,
    `<ul>${members
      .map(
        (one) =>
          `<li id="${one.operationId}"><a href="${page}.html#${one.operationId}"><code>${one.name}</code></a> ${words(one.summary)}</li>`,
      )
      .join('\n')}</ul>`,
  ]);
  const schemas = Object.entries(components.schemas).map(
    ([schema, value]) => `${heading(2, `schema-${schema}`, schema)}<div>${view(value)}</div>`,
  );
  return [
    {
      name,
      title: info.title,
      html: [
        `<h1>${info.title} <small>${info.version}</small></h1>`,
        `<p>${words(info.description)}</p>`,
        `<p>For programs: <a href="${name}.json">OpenAPI document</a>, <a href="${name}.postman_collection.json">collection for Postman</a>.</p>`,
        ...lists,
        heading(2, 'schemas', `<a href="${name}-schemas.html">Schemas</a>`),
      ].join('\n'),
    },
    ...groups.map(({ name: group, description, page, members }) => ({
      name: page,
      title: `${group} – ${info.title}`,
      html: [above, `<h1>${group}</h1>`, `<p>${words(description)}</p>`, ...members.map(operationView)].join(
        '\n',
      ),
    })),
    {
      name: `${name}-schemas`,
      title: `Schemas – ${info.title}`,
      html: [above, '<h1>Schemas</h1>', ...schemas].join('\n'),
    },
  ];
}

/** Returns the view of an operation. */
function operationViewer({ words, view }) {
  return operationView;

  function operationView({
    operationId,
    name: called,
    method,
    path,
    summary,
    description,
    parameters = [],
    requestBody,
    responses,
    security,
  }) {
    const inputs = parameters.map(
      (one) =>
        `<li><code>${one.name}</code> <em>${one.in}${one.required ? '' : ', optional'}</em> ${view({ ...one.schema, description: one.description })}</li>`,
    );
    const answers = Object.entries(responses).map(
      ([status, response]) => `<li><code>${status}</code> ${answerView(response)}</li>`,
    );
    return [
      heading(2, operationId, `<code>${called}</code>`),
      `<p>${words(summary)}</p>`,
      description === undefined ? '' : `<p>${words(description)}</p>`,
      inputs.length === 0 ? '' : `<h3>Parameters</h3><ul>${inputs.join('\n')}</ul>`,
      requestBody === undefined ? '' : `<h3>Body</h3>${contentView(requestBody)}`,
      `<h3>Answers</h3><ul>${answers.join('\n')}</ul>`,
      example('Example of a request', requestExample({ method, path, parameters, requestBody, security })),
      example('Example of its answer', answerExample(responses)),
    ].join('\n');
  }

  function answerView({ description, content }) {
    return `${words(description)}${content === undefined ? '' : contentView({ content })}`;
  }

  function contentView({ content }) {
    return Object.entries(content)
      .map(([type, { schema = {} }]) => `<div><code>${type}</code> ${view(schema)}</div>`)
      .join('');
  }
}
