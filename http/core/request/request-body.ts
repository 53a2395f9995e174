/** Opens and reads the body of a request. */
import { join } from 'node:path';
import { BodyReader } from '../body/body.ts';
import { readForm } from '../body/form-body.ts';
import type { CheckedBody, Conventions } from '../conventions.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { ResponseWriter } from '../transport/port.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { RequestContextOptions } from './request-options.ts';

/** Fingerprint of a body that is not JSON. */
export const noFingerprint = (): string => '';

/** Listens to the body. Call before the handler of the library returns. */
export function openBody(
  exchange: Exchange,
  response: ResponseWriter,
  { clock, pool, spoolFolder }: RequestContextOptions,
  requestId: string,
): BodyReader {
  return new BodyReader(exchange, response, {
    clock,
    pool,
    spoolPath: () => join(spoolFolder, `sealwright-${requestId.replace(':', '-')}.spool`),
  });
}

/** Reads and checks a form or JSON. */
export function readBody(
  { route, contentType, contentLength }: ReceivedRequest,
  { params, identity }: { readonly params: unknown; readonly identity: unknown },
  stream: BodyReader,
  conventions: Conventions,
): Promise<CheckedBody> {
  if (route.bodyPolicy !== 'form')
    return conventions.readJson({ route, params, identity, stream, contentType, contentLength });
  return readForm(stream, contentType).then((fields) => ({
    value: conventions.check(route.body, fields, route.unfit.body),
    fingerprint: noFingerprint,
  }));
}
