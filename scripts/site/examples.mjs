/** Examples of requests and answers, from those of the OpenAPI document. */

/** A command of curl; `$KEY` is the header with a key, `$URL` the address of the service. */
export function requestExample({ method, path, parameters, requestBody, security }) {
  const required = parameters.filter((one) => one.required);
  const address = required
    .filter((one) => one.in === 'path')
    .reduce((text, one) => text.replace(`{${one.name}}`, sampleOf(one)), path);
  const query = required.filter((one) => one.in === 'query').map((one) => `${one.name}=${sampleOf(one)}`);
  const asked = query.length === 0 ? '' : `?${query.join('&')}`;
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  const lines = [`curl${verb} "$URL${address}${asked}"`];
  if (security?.length !== 0) lines.push('-H "$KEY"');
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = exampleOf(media);
  if (type === 'multipart/form-data') lines.push('-F file=@document.pdf');
  else if (type === 'application/json' && body !== undefined)
    lines.push(`--json '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`);
  else if (type !== undefined) lines.push(`-H 'Content-Type: ${type}' --data-binary @document.pdf`);
  return lines.join(' \\\n  ');
}

/** The first answer of success that has an example. */
export function answerExample(responses) {
  const bodies = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.values(content).map(exampleOf));
  const body = bodies.find((one) => one !== undefined);
  return body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}

function exampleOf(media) {
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
}

function sampleOf({ name, example: given, schema = {} }) {
  return String(given ?? schema.examples?.[0] ?? schema.default ?? `<${name}>`);
}

export function example(title, text) {
  if (text === undefined) return '';
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<h3>${title}</h3><pre tabindex="0"><code>${escaped}</code></pre>`;
}
