/** HTML view of the operations, each with a form to send it. */
import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import { richText, schemaView } from './schema-view.ts';
import type { Schema } from './schemas.ts';

interface MediaTypes {
  readonly [mediaType: string]: { readonly schema?: Schema; readonly example?: unknown };
}

/** The members of an operation that the page shows. Source: OpenAPI 3.1.1 §4.8.10. */
export interface OperationView {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** Names of schemes, each with the scopes that it needs. */
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: MediaTypes };
  readonly responses: {
    readonly [status: string]: { readonly description: string; readonly content?: MediaTypes };
  };
}

/** @param mayTry false: the reader may not send it */
export function operationView(method: string, path: string, operation: OperationView, mayTry: boolean): Html {
  const { operationId: id, security, summary, description } = operation;
  const open = security.length === 0 ? html` <span class="chip">no login needed</span>` : undefined;
  const scopes = new Set(security.flatMap((one) => Object.values(one).flat()));
  const needs = [...scopes].map((scope) => html` <span class="chip">scope ${scope}</span>`);
  return html`<article class="operation" id="${id}" data-words="${operationTexts(method, path, operation)}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code>${open}${needs}</h3>
<p>${richText(summary)}</p>
${
  description === undefined
    ? undefined
    : html`<p>${richText(description)}</p>
`
}${parametersView(operation)}${bodyView(operation)}${responsesView(operation)}${mayTry ? tryView(method, path, operation) : undefined}
</article>`;
}

/** Searchable text of an operation, in lower case. */
function operationTexts(method: string, path: string, operation: OperationView): string {
  const codes = answersOf(operation).map(([, { description }]) => description);
  const names = (operation.parameters ?? []).map(({ name }) => name);
  const { summary, description: text = '' } = operation;
  return [method, path, summary, text, ...operation.tags, ...names, ...codes].join(' ').toLowerCase();
}

function parametersView({ parameters = [] }: OperationView): Html | undefined {
  if (parameters.length === 0) return undefined;
  const rows = parameters.map(
    ({ in: place, name, required, description, schema, example }) =>
      html`<li><code>${name}</code> <em>${place}${required ? '' : ', optional'}</em> ${schemaView({
        ...schema,
        ...(description !== undefined && { description }),
        ...(example !== undefined && { examples: [example] }),
      })}</li>`,
  );
  return html`<h4>Parameters</h4><ul class="members">${rows}</ul>`;
}

function bodyView({ requestBody }: OperationView): Html | undefined {
  if (requestBody === undefined) return undefined;
  const types = Object.keys(requestBody.content).map(
    (type, index) => html`${index === 0 ? '' : ' or '}<code>${type}</code>`,
  );
  const schema = Object.values(requestBody.content)[0]?.schema ?? {};
  return html`<h4>Body${requestBody.required ? '' : ' (optional)'}</h4><p>${types}</p>${schemaView(schema)}`;
}

/** Without what every operation answers, which every search would find. */
function answersOf({ responses }: OperationView) {
  return Object.entries(responses).filter(([status]) => status !== '307');
}

function responsesView(operation: OperationView): Html {
  const rows = answersOf(operation).map(([status, { description, content = {} }]) => {
    const bodies = Object.entries(content).map(([type, { schema }]) => {
      const shown =
        schema === undefined || type.startsWith('application/problem') ? undefined : schemaView(schema);
      return html`<p><code>${type}</code></p>${shown}`;
    });
    return html`<details${Number(status) < 300 ? ' open' : ''}><summary><span class="status s${status.slice(0, 1)}">${status}</span></summary>
<p>${richText(description)}</p>${bodies}</details>`;
  });
  return html`<h4>Answers</h4>${rows}`;
}

/** Hidden until the script runs, which sends the form. */
function tryView(method: string, path: string, operation: OperationView): Html {
  const fields = (operation.parameters ?? []).map(({ in: place, name, required, example }) => {
    // Filters begin empty: with their examples a list would be empty.
    const value = place !== 'path' || example === undefined ? undefined : html` value="${String(example)}"`;
    return field(
      `${operation.operationId}-${place}-${name}`,
      name,
      html`data-in="${place}"${value}`,
      required,
    );
  });
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const members = Object.entries(
    (media?.schema?.['properties'] ?? {}) as { readonly [name: string]: Schema },
  );
  const required = new Set((media?.schema?.['required'] ?? []) as readonly string[]);
  for (const [name, schema] of type === 'application/json' ? [] : members) {
    const kind = schema['contentMediaType'] === undefined ? 'text' : 'file';
    const id = `${operation.operationId}-form-${name}`;
    fields.push(field(id, name, html`data-in="form" type="${kind}"`, required.has(name)));
  }
  if (type === 'application/json') {
    const id = `${operation.operationId}-body`;
    const text = media?.example === undefined ? '' : JSON.stringify(media.example, undefined, 2);
    const rows = String(Math.min(Math.max(text.split('\n').length, 4), 24));
    fields.push(
      html`<label for="${id}">body</label><textarea id="${id}" name="body" data-in="json" rows="${rows}" spellcheck="false">${text}</textarea>`,
    );
  }
  return html`<form class="try" data-method="${method.toUpperCase()}" data-path="${path}" data-type="${type ?? ''}" hidden>
<h4>Try it</h4>
${lines(fields)}
<button type="submit">Send</button>
<output aria-live="polite"></output>
</form>`;
}

function field(id: string, name: string, attributes: Html, required: boolean): Html {
  return html`<label for="${id}">${name}</label><input id="${id}" name="${name}" ${attributes}${required ? ' required' : ''} autocomplete="off">`;
}
