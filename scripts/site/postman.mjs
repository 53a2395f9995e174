/** A collection of Postman (v2.1.0) from an OpenAPI document: a folder for each tag, a request for each operation, variables for address and key. */

/** @param name of the service: `batch` or `portal` */
export function postmanCollection({ info, tags, paths, components }, name) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
  const header = Object.values(components.securitySchemes).find(
    (one) => one.type === 'apiKey' && one.in === 'header',
  );
  return {
    info: {
      name: info.title,
      description: info.description,
      version: info.version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: header.name },
        { key: 'value', value: `{{${name}Key}}` },
        { key: 'in', value: 'header' },
      ],
    },
    variable: [
      { key: `${name}Url`, value: name === 'batch' ? 'http://127.0.0.1:8080' : 'http://127.0.0.1:8090' },
      { key: `${name}Key`, value: '' },
    ],
    item: tags.map((tag) => ({
      name: tag.name,
      description: tag.description,
      item: operations.filter((one) => one.tags.includes(tag.name)).map((one) => requestOf(one, name)),
    })),
  };
}

function requestOf({ method, path, summary, description, parameters = [], requestBody, security }, name) {
  const of = (place) => parameters.filter((one) => one.in === place);
  const url = {
    raw: `{{${name}Url}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    host: [`{{${name}Url}}`],
    path: path
      .replaceAll(/\{(\w+)\}/g, ':$1')
      .split('/')
      .slice(1),
    variable: of('path').map((one) => ({
      key: one.name,
      value: exampleOf(one),
      description: one.description,
    })),
    query: of('query').map((one) => ({
      key: one.name,
      value: exampleOf(one),
      description: one.description,
      disabled: !one.required,
    })),
  };
  const body = bodyOf(requestBody);
  return {
    name: `${method} ${path}`,
    request: {
      method,
      url,
      description: [summary, description].filter(Boolean).join('\n\n'),
      header: of('header').map((one) => ({ key: one.name, value: exampleOf(one), disabled: !one.required })),
      ...(security?.length === 0 && { auth: { type: 'noauth' } }),
      ...(body !== undefined && { body }),
    },
  };
}

function bodyOf(requestBody) {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined) return undefined;
  if (type !== 'multipart/form-data') {
    const [example = media.example ?? {}] = Object.values(media.examples ?? {}).map((one) => one.value);
    return { mode: 'raw', raw: JSON.stringify(example, null, 2), options: { raw: { language: 'json' } } };
  }
  const members = Object.entries(media.schema?.properties ?? { file: { format: 'binary' } });
  const formdata = members.map(([key, schema]) => ({
    key,
    type: schema.format === 'binary' || schema.contentMediaType !== undefined ? 'file' : 'text',
    description: schema.description,
  }));
  return { mode: 'formdata', formdata };
}

function exampleOf({ example, schema = {} }) {
  const value = example ?? schema.examples?.[0] ?? schema.default ?? '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
