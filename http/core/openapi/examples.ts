/** Examples of the JSON bodies of operations. Source: OpenAPI 3.1.1 §4.8.14 ("Media Type Object"), `example`. */

/** Method and path, as `GET /api/jobs/{id}` → example request body, and example reply by status. */
export type OperationExamples = {
  readonly [operation: string]: {
    readonly sends?: unknown;
    readonly answers?: { readonly [status: number]: unknown };
  };
};

interface Content {
  readonly [mediaType: string]: object;
}

/** The content with the example in JSON form; unchanged where it has one already or there is none. */
export function withExample<Given extends Content | undefined>(content: Given, example: unknown): Given {
  const json = content?.['application/json'];
  if (json === undefined || example === undefined) return content;
  return { ...content, 'application/json': { ...json, example } };
}
