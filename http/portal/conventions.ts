/** Conventions of the portal for requests and refusals. Source: docs/portal-values.md §§1 and 2. */

import { parsedInput } from '../../actors/portal/api.ts';
import { namingIgnored } from '../../contracts/ignored-members.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { isPagePath } from '../core/accept.ts';
import { fingerprintOf } from '../core/body/json-body.ts';
import type { BodyRequest, CheckedBody, Conventions } from '../core/conventions.ts';
import type { Reply } from '../core/reply.ts';
import type { AnyRoute, BodyCredentials } from '../core/router.ts';
import { credentialsOf } from './credentials.ts';
import type { BodyReading } from './input/body-reading.ts';
import { parseJsonObject, readJsonBytes } from './input/json-body.ts';
import { readPortalQuery } from './input/query-text.ts';
import { notFoundPage } from './pages/not-found-page.ts';
import { portalCode, portalProblem, portalProblemBody } from './problem.ts';

/** Maximum size of a JSON body without a key, bytes; a ticket, a certificate and a signature need 30 KiB. */
const OPEN_BODY_BYTES = 64 * 1024;
/** Maximum size of a JSON body with a key, bytes. */
const KEYED_BODY_BYTES = 256 * 1024;
/** Maximum size of a body that the main thread parses where the route names a schema for the worker, bytes. */
const READ_HERE_BYTES = 64 * 1024;
/**
 * Maximum size of a large body, bytes; fifty documents with thirty participants and their marks need less than one
 * MiB.
 */
const LARGE_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum number of values in a body; a thousand marks in each of two lists are 18,000. */
const MAX_VALUES = 20_000;
const MAX_VALUES_OF_LARGE = 100_000;

/**
 * @param large parses large bodies on a worker thread
 * @param basePath path of the host below which the portal is served, without a slash at its end; empty: none
 */
export function portalConventions(large: BodyReading, basePath: string): Conventions {
  return {
    problemType: 'application/json; charset=utf-8',
    problemFrom: portalProblem,
    problemBody: portalProblemBody,
    readQuery: readPortalQuery,
    bodyLimit,
    readJson: (request) => readPortalBody(request, large),
    encodedBody: () =>
      new PortalRefusal(
        'UnsupportedMediaType',
        'Send the body without Content-Encoding: this service reads no compressed bodies.',
      ),
    notFoundPage: (request) =>
      isPagePath(request.path, request.header('accept')) ? notFoundPage(request) : undefined,
    ...(basePath !== '' && { present: (reply: Reply) => belowPath(reply, basePath) }),
    check: (schema, value, code) => parsedInput(schema, value, portalCode(code)),
  };
}

function bodyLimit({
  auth,
  maxBodyBytes,
  largeBody,
}: Pick<AnyRoute, 'auth' | 'maxBodyBytes' | 'largeBody'>): number {
  if (maxBodyBytes !== undefined) return maxBodyBytes;
  if (auth === 'anonymous' || auth === 'known-or-ticket') return OPEN_BODY_BYTES;
  return largeBody === undefined ? KEYED_BODY_BYTES : LARGE_BODY_BYTES;
}

/**
 * Reads at most the route's limit, then checks the credentials in the body, and parses the rest only when they are
 * valid.
 * Refusals: `UnsupportedMediaType`, `PayloadTooLarge`, `BadRequest`, `ServiceBusy`, and those of `authorize`.
 */
async function readPortalBody(request: BodyRequest, large: BodyReading): Promise<CheckedBody> {
  const { route, params, identity, stream, contentType, contentLength } = request;
  const head = { contentType, contentLength };
  const maxValues = route.largeBody === undefined ? MAX_VALUES : MAX_VALUES_OF_LARGE;
  const bytes = await readJsonBytes(stream, head, { maxBytes: bodyLimit(route), maxValues });
  const authorize = (credentials: BodyCredentials) => route.authorize?.({ params, credentials, identity });
  if (bytes.length > READ_HERE_BYTES && route.largeBody !== undefined) {
    if (route.authorize !== undefined) await authorize(await large.credentials(bytes));
    const { fingerprint, ...read } = await large.body(route.largeBody, bytes);
    return { ...read, fingerprint: () => fingerprint };
  }
  const given = parseJsonObject(bytes);
  if (route.authorize !== undefined) await authorize(credentialsOf(given));
  const code = portalCode(route.invalidInput.body);
  const read = namingIgnored(given, () => parsedInput(route.body, given, code));
  return { ...read, fingerprint: () => fingerprintOf(given) };
}

/**
 * A page, or a redirection, whose paths of this service are below another path. In the templates every path is the
 * quoted value of an attribute, and quotes of other texts are escaped. Scripts find their way by their own address.
 */
function belowPath(reply: Reply, basePath: string): Reply {
  if (reply.kind === 'page')
    return {
      ...reply,
      // A function, because a path may contain `$`.
      html: reply.html.replace(/(?<=\s(?:href|src|action|formaction)=")\/(?!\/)/g, () => `${basePath}/`),
    };
  if (reply.kind !== 'empty' || reply.headers === undefined) return reply;
  const headers = reply.headers.map(([name, value]) =>
    name === 'Location' && /^\/(?!\/)/.test(value)
      ? ([name, `${basePath}${value}`] as const)
      : ([name, value] as const),
  );
  return { ...reply, headers };
}
