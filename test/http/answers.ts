/**
 * Checks every reply by the API description. Every suite with a server uses it, so that an undescribed reply fails the
 * test that received it. Loads nothing of the product: most of these suites drive a program from outside.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import type { OpenApiDocument } from '../../http/core/openapi/document.ts';
import { AnswerBook, type WithoutRoute } from './answer-book.ts';

const BATCH_WITHOUT_ROUTE: WithoutRoute = {
  codes: {
    400: ['host.not-allowed'],
    404: ['route.not-found'],
    405: ['route.method-not-allowed'],
    500: ['internal'],
    503: ['service.busy'],
  },
  schema: () => 'Problem',
};

const PORTAL_WITHOUT_ROUTE: WithoutRoute = {
  codes: {
    400: ['BadRequest'],
    404: [undefined],
    405: ['MethodNotAllowed'],
    500: ['InternalError'],
    503: ['ServiceBusy'],
  },
  trailingSlash: true,
  schema: (status) => ({ 400: 'BadRequest', 404: 'NotFound' })[status] ?? 'Error',
};

const WITHOUT_ROUTE = {
  batch: BATCH_WITHOUT_ROUTE,
  portal: PORTAL_WITHOUT_ROUTE,
  'portal-with-pages': PORTAL_WITHOUT_ROUTE,
};

/** Folder of the compiled tree. */
const DIST = fileURLToPath(new URL('../../', import.meta.url));

const kept = new Map<string, AnswerBook>();

/** The book of a service by its description, of the portal also with the routes of its pages. */
export function bookOf(name: keyof typeof WITHOUT_ROUTE): AnswerBook {
  let book = kept.get(name);
  if (book === undefined) {
    book = new AnswerBook(described(name), WITHOUT_ROUTE[name]);
    kept.set(name, book);
  }
  return book;
}

/**
 * A description as this build has it; making them takes seconds. They are kept beside the build and named by it, so no
 * description outlives its sources.
 */
function described(name: string): OpenApiDocument {
  const folder = `${DIST}described/${readFileSync(`${DIST}.built`, 'utf8').slice(0, 32)}`;
  const path = `${folder}/${name}.json`;
  if (!existsSync(path))
    execFileSync(process.execPath, [`${DIST}test/http/describe.js`, folder], { stdio: 'inherit' });
  return JSON.parse(readFileSync(path, 'utf8')) as OpenApiDocument;
}

const books = new Map<string, AnswerBook>();
const askOriginal = globalThis.fetch;

/**
 * Makes `fetch` reject when the service at this address sends an undescribed reply, until the end of the test: the next
 * server on this port may be another. @default the batch service
 */
export function checkAnswersOf(
  t: Pick<ExecutionContext, 'teardown'>,
  url: string,
  book: AnswerBook = bookOf('batch'),
): void {
  const { origin } = new URL(url);
  books.set(origin, book);
  t.teardown(() => {
    books.delete(origin);
  });
  globalThis.fetch = checkedFetch;
}

const checkedFetch: typeof fetch = async (input, init) => {
  const response = await askOriginal(input, init).catch((error: unknown) => {
    // `fetch` says why in the cause alone, which reporters leave out.
    const cause = error instanceof TypeError ? error.cause : undefined;
    throw cause instanceof Error ? new TypeError(`fetch: ${cause.message}`, { cause }) : error;
  });
  const url = new URL(response.url === '' ? String(input) : response.url);
  const book = books.get(url.origin);
  if (book === undefined || response.type === 'opaqueredirect') return response;
  const given = init?.method ?? (input instanceof Request ? input.method : 'GET');
  const method = response.redirected && given === 'POST' ? 'GET' : given;
  const isText = /json/.test(response.headers.get('content-type') ?? '');
  // A truncated reply is checked by the test itself.
  const body = isText
    ? await response
        .clone()
        .text()
        .catch(() => undefined)
    : undefined;
  const { status, headers } = response;
  const findings = book.findings({ method, path: url.pathname, status, headers, body });
  if (findings.length === 0) return response;
  const text = `${method} ${url.pathname} answered ${status}: ${findings.join('; ')}`;
  mismatches.push(text);
  throw new AnswerMismatch(text);
};

/** Every mismatch in this process, including those whose rejection a test caught. */
const mismatches: string[] = [];

class AnswerMismatch extends Error {
  override readonly name = 'AnswerMismatch';
}

/** Throws when a reply since the last call was not as described. */
export function assertAnswersDescribed(): void {
  const since = mismatches.splice(0);
  if (since.length > 0) throw new AnswerMismatch(since.join('\n'));
}
