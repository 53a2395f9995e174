/**
 * Operations of the description as people read them, each with a form to try it.
 */
import { escapeHtml } from '../html.ts';
import { richText, schemaView } from './schema-view.ts';
import type { Schema } from './schemas.ts';

interface MediaTypes {
  readonly [mediaType: string]: { readonly schema?: Schema };
}

/** The parts of an operation that the page shows. Source: OpenAPI 3.1.1 §4.8.10. */
export interface OperationView {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: MediaTypes };
  readonly responses: {
    readonly [status: string]: { readonly description?: string; readonly content?: MediaTypes };
  };
}

export function operationView(method: string, path: string, operation: OperationView): string {
  const { operationId: id, security } = operation;
  const open = security.length === 0 ? ' <span class="chip">no login needed</span>' : '';
  return `<article class="operation" id="${id}" data-words="${escapeHtml(words(method, path, operation))}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code>${open}</h3>
<p>${richText(operation.summary)}</p>
${parametersView(operation)}${bodyView(operation)}${responsesView(operation)}${tryView(method, path, operation)}
</article>`;
}

/** What a search looks through, in lower case. */
function words(method: string, path: string, operation: OperationView): string {
  const codes = Object.values(operation.responses).map(({ description = '' }) => description);
  const names = (operation.parameters ?? []).map(({ name }) => name);
  return [method, path, operation.summary, ...operation.tags, ...names, ...codes].join(' ').toLowerCase();
}

function parametersView({ parameters = [] }: OperationView): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ in: place, name, required, description, schema }) =>
      `<li><code>${escapeHtml(name)}</code> <em>${place}${required ? '' : ', optional'}</em> ${schemaView(
        description === undefined ? schema : { ...schema, description },
      )}</li>`,
  );
  return `<h4>Parameters</h4><ul class="members">${rows.join('')}</ul>`;
}

function bodyView({ requestBody }: OperationView): string {
  if (requestBody === undefined) return '';
  const types = Object.keys(requestBody.content).map((type) => `<code>${escapeHtml(type)}</code>`);
  const schema = Object.values(requestBody.content)[0]?.schema ?? {};
  return `<h4>Body${requestBody.required ? '' : ' (optional)'}</h4><p>${types.join(' or ')}</p>${schemaView(schema)}`;
}

function responsesView({ responses }: OperationView): string {
  const rows = Object.entries(responses)
    .filter(([, response]) => response.description !== undefined)
    .map(([status, { description = '', content = {} }]) => {
      const bodies = Object.entries(content).map(([type, { schema }]) => {
        const shown =
          schema === undefined || type.startsWith('application/problem') ? '' : schemaView(schema);
        return `<p><code>${escapeHtml(type)}</code></p>${shown}`;
      });
      return `<details${Number(status) < 300 ? ' open' : ''}><summary><span class="status s${status[0]}">${status}</span></summary>
<p>${richText(description)}</p>${bodies.join('')}</details>`;
    });
  return `<h4>Answers</h4>${rows.join('')}`;
}

/** Shown by the script, which alone can send it. */
function tryView(method: string, path: string, operation: OperationView): string {
  const fields = (operation.parameters ?? []).map(({ in: place, name, required }) =>
    field(`${operation.operationId}-${place}-${name}`, name, `data-in="${place}"`, required),
  );
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const members = Object.entries(
    (media?.schema?.['properties'] ?? {}) as { readonly [name: string]: Schema },
  );
  const required = new Set((media?.schema?.['required'] ?? []) as readonly string[]);
  for (const [name, schema] of type === 'application/json' ? [] : members) {
    const kind = schema['contentMediaType'] === undefined ? 'text' : 'file';
    const id = `${operation.operationId}-form-${name}`;
    fields.push(field(id, name, `data-in="form" type="${kind}"`, required.has(name)));
  }
  if (type === 'application/json') {
    const id = `${operation.operationId}-body`;
    fields.push(
      `<label for="${id}">body</label><textarea id="${id}" name="body" data-in="json" rows="4" spellcheck="false"></textarea>`,
    );
  }
  return `<form class="try" data-method="${method.toUpperCase()}" data-path="${escapeHtml(path)}" data-type="${type ?? ''}" hidden>
<h4>Try it</h4>
${fields.join('\n')}
<button type="submit">Send</button>
<output aria-live="polite"></output>
</form>`;
}

function field(id: string, name: string, attributes: string, required: boolean): string {
  const name_ = escapeHtml(name);
  return `<label for="${id}">${name_}</label><input id="${id}" name="${name_}" ${attributes}${required ? ' required' : ''} autocomplete="off">`;
}
