import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import type { SignedInUser, Tenant } from '../../../../actors/portal/api.ts';
import { createWrongKeys } from '../../../../http/core/access/wrong-keys.ts';
import { createPortalAccessCheck, userCookie } from '../../../../http/portal/access-check.ts';

const TENANT = {
  organization: { name: 'Org' },
  application: { id: 'a', name: 'App', role: 'Normal' },
} as unknown as Tenant;
const USER = {
  id: 'u',
  role: 'sender',
  sessionId: 's',
  formToken: 'f',
  tenant: TENANT,
} as unknown as SignedInUser;

/** A directory that answers in a later turn of the event loop. */
function later<Found>(found: Found): () => Promise<Found> {
  return async () => {
    await nextTurn();
    return found;
  };
}

for (const [caller, policy, headers] of [
  ['an application', 'application', { 'x-api-key': 'App|secret' }],
  ['a script of our pages', 'application', { cookie: `${userCookie(false)}=token` }],
  ['an editor', 'editor', { 'x-editor-session': 'token' }],
  ['a directory of users', 'provisioning', { authorization: 'Bearer App|secret' }],
] as const)
  test(`headers of ${caller} are read before the store, because the request is invalid afterwards`, async (t) => {
    const check = createPortalAccessCheck(
      {
        tenants: { identify: later(TENANT) },
        signIn: { session: later(USER), isPending: later(false) },
        editorSessions: { session: later(TENANT) },
      },
      { allowedHosts: [], requireHttps: false },
      createWrongKeys(new SimulatedClock()),
    );
    const given: { readonly [name: string]: string } = { 'user-agent': 'Agent', ...headers };
    let isGone = false;
    const header = (name: string) => {
      if (isGone) throw new Error(`The header ${name} was read too late.`);
      return given[name] ?? '';
    };
    const from = { address: '192.0.2.1', https: false, host: 'localhost' };
    const arrival = { method: 'GET', path: '/api/documents', query: undefined, caller: from, header };
    const admitted = check.admit(arrival, policy);
    isGone = true;
    const { admitted: is, ...rest } = await admitted;
    t.true(is);
    t.like(rest, { identity: { origin: { ipAddress: '192.0.2.1', userAgent: 'Agent' } } });
  });
