import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import type { Tenant } from '../../../../actors/portal/api.ts';
import { createWrongKeys } from '../../../../http/core/access/wrong-keys.ts';
import { createPortalAccessCheck } from '../../../../http/portal/access-check.ts';

const TENANT = { application: { id: 'a', name: 'App', role: 'Normal' } } as Tenant;

test('headers are read before the store, because the request is invalid afterwards', async (t) => {
  const identify = async () => {
    await nextTurn();
    return TENANT;
  };
  const session = async () => undefined;
  const settings = { allowedHosts: [], requireHttps: false };
  const wrongKeys = createWrongKeys(new SimulatedClock());
  const check = createPortalAccessCheck(
    { tenants: { identify }, signIn: { session, isPending: async () => false }, editorSessions: { session } },
    settings,
    wrongKeys,
  );
  let isGone = false;
  const header = (name: string) => {
    if (isGone) throw new Error(`The header ${name} was read too late.`);
    return name === 'x-api-key' ? 'App|secret' : name;
  };
  const caller = { address: '192.0.2.1', https: false, host: 'localhost' };
  const arrival = { method: 'GET', path: '/api/documents', query: undefined, caller, header };
  const admitted = check.admit(arrival, 'application');
  isGone = true;
  const { admitted: is, ...rest } = await admitted;
  t.true(is);
  t.like(rest, { identity: { origin: { ipAddress: '192.0.2.1', userAgent: 'user-agent' } } });
});
