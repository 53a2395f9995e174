/** Refusals of the portal. */
import type { ExecutionContext } from 'ava';
import { PORTAL_REFUSALS, type PortalRefusalCode } from '../../contracts/portal/refusals.ts';

/** Asserts a refusal, in the form of its status; returns its body. */
export async function assertRefused(
  t: ExecutionContext,
  response: Response,
  code: PortalRefusalCode,
): Promise<{ message: string; errors?: Record<string, string[]>; details?: Record<string, string> | null }> {
  const text = await response.text();
  t.is(response.status, PORTAL_REFUSALS[code].status, text);
  t.is(response.headers.get('content-type'), 'application/json; charset=utf-8');
  t.regex(text, /^[\x20-\x7e]+$/, 'one line of ASCII');
  const body = JSON.parse(text);
  const members = { 400: ['code', 'message', 'errors'], 404: ['message', 'resourceName', 'resourceId'] };
  const wanted = members[response.status as 400 | 404] ?? ['code', 'message', 'details'];
  t.deepEqual(Object.keys(body), wanted);
  if (response.status !== 404) t.is(body.code, code);
  return body;
}
