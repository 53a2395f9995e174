/** The reference of an API as one page, from its OpenAPI document, with the views of the running service. */

import { answerExample, example, requestExample } from './examples.mjs';

/** Returns the HTML. `built` imports a module of the build; `name` is that of the page. */
export async function apiReference({ info, tags, paths, components }, built, name) {
  const { schemaView, richText } = await built('http/core/openapi/schema-view.js');
  const view = (schema) => schemaView(schema).text;
  const words = (text) => richText(text).text;
  const heading = (depth, id, inner) =>
    `<h${depth} id="${id}">${inner} <a class="self" href="#${id}" aria-label="Link to this section">#</a></h${depth}>`;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
    })),
  );
  const sections = tags.map(({ name, description }) => {
    const members = operations.filter((one) => one.tags.includes(name)).map(operationView);
    return [
      heading(2, `tag-${name.toLowerCase().replaceAll(/\W+/g, '-')}`, name),
      `<p>${words(description)}</p>`,
      ...members,
    ];
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${heading(3, `schema-${name}`, name)}<div>${view(schema)}</div>`,
  );
  return [
    `<h1>${info.title} <small>${info.version}</small></h1>`,
    `<p>${words(info.description)}</p>`,
    `<p>For programs: <a href="${name}.json">OpenAPI document</a>, <a href="${name}.postman_collection.json">collection for Postman</a>.</p>`,
    ...sections.flat(),
    heading(2, 'schemas', 'Schemas'),
    ...schemas,
  ].join('\n');

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
      heading(3, operationId, `<code>${called}</code>`),
      `<p>${words(summary)}</p>`,
      description === undefined ? '' : `<p>${words(description)}</p>`,
      inputs.length === 0 ? '' : `<h4>Parameters</h4><ul>${inputs.join('\n')}</ul>`,
      requestBody === undefined ? '' : `<h4>Body</h4>${contentView(requestBody)}`,
      `<h4>Answers</h4><ul>${answers.join('\n')}</ul>`,
      example('Example of a request', requestExample({ method, path, parameters, requestBody, security })),
      example('Example of its answer', answerExample(responses)),
    ].join('\n');
  }

  function answerView({ $ref, ...response }) {
    const { description = '', content } =
      $ref === undefined ? response : components.responses[$ref.split('/').at(-1)];
    return `${words(description)}${content === undefined ? '' : contentView({ content })}`;
  }

  function contentView({ content }) {
    return Object.entries(content)
      .map(([type, { schema = {} }]) => `<div><code>${type}</code> ${view(schema)}</div>`)
      .join('');
  }
}
