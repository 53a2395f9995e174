import test from 'ava';
import { systemIds } from '#runtime/model/ids.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { asksForJson, prefersHtml } from '../../../http/core/accept.ts';
import { createAuthenticator } from '../../../http/core/access/auth.ts';
import { createOneTimeLogins } from '../../../http/core/access/one-time-logins.ts';
import { memorySessionKeys, openSessionKeyRing } from '../../../http/core/access/session-keys.ts';
import { createSessions } from '../../../http/core/access/sessions.ts';
import { createWrongKeys } from '../../../http/core/access/wrong-keys.ts';
import { createAccessCheck } from '../../../http/core/request/access-check.ts';
import { recorder } from '../harness.ts';
import { memoryEndedSessions } from './ended-sessions.ts';

const SETTINGS = {
  apiKey: 'current-key',
  previousApiKey: 'old-key',
  apiKeyHeader: 'X-Api-Key',
  cookieName: 'c',
};

const ended = await memoryEndedSessions(new SimulatedClock());

function authenticator(settings: Partial<typeof SETTINGS> = {}) {
  const clock = new SimulatedClock();
  const ring = openSessionKeyRing(memorySessionKeys(), { clock, ids: systemIds, log: recorder([]) });
  const all = { ...SETTINGS, ...settings };
  return createAuthenticator(
    all,
    createSessions({ ring, ended, lifetime: 1000, apiKey: all.apiKey, clock, ids: systemIds }),
    createOneTimeLogins({ clock, ids: systemIds }),
  );
}

test('a key is right, wrong, missing or unconfigured', (t) => {
  const identify = (apiKey: string, from = authenticator()) => from.identify({ apiKey, session: '' });
  for (const right of ['current-key', 'old-key']) {
    t.deepEqual(identify(right), {
      identity: { operator: 'operator', scheme: 'ApiKey' },
      renewed: undefined,
    });
  }
  for (const wrong of ['', 'current-ke', 'current-key ', 'CURRENT-KEY', 'x'.repeat(5000)]) {
    t.throws(() => identify(wrong), { code: 'auth.invalid-credentials' });
  }
  const alone = authenticator({ previousApiKey: '' });
  for (const wrong of ['', 'old-key']) {
    t.throws(() => identify(wrong, alone), { code: 'auth.invalid-credentials' });
  }
  const none = authenticator({ apiKey: '' });
  for (const any of ['', 'current-key', 'old-key']) {
    t.throws(() => identify(any, none), { code: 'auth.misconfigured' });
  }
});

/** A browser that requests a page. */
function arrival(headers: Readonly<Record<string, string>>, path = '/jobs', query?: string) {
  return {
    method: 'GET',
    path,
    query,
    caller: { address: '192.0.2.1', https: false, host: 'sign.example' },
    header: (name: string) => headers[name] ?? '',
  };
}

test('a page without a session redirects to the login and back, and a wrong key of a client is refused', (t) => {
  const from = authenticator();
  const gate = createAccessCheck(
    from,
    { allowedHosts: ['*'], requireHttps: false },
    createWrongKeys(new SimulatedClock()),
  );
  const location = (headers: Record<string, string>, path?: string, query?: string) => {
    const admission = gate.admit(arrival(headers, path, query), 'page');
    return admission.admitted ? undefined : new Map(admission.reply.headers).get('Location');
  };
  t.is(location({}), '/login?ReturnUrl=%2Fjobs');
  t.is(location({ cookie: 'c=broken' }, '/', ''), '/login?ReturnUrl=%2F');
  t.is(
    location({}, '/jobs', 'status=Failed&page=2'),
    '/login?ReturnUrl=%2Fjobs%3Fstatus%3DFailed%26page%3D2',
  );
  t.is(location({ cookie: `c=${from.logIn('current-key')}` }), undefined);
  t.is(location({ 'x-api-key': 'old-key' }), undefined);
  t.throws(() => location({ 'x-api-key': 'wrong' }), { code: 'auth.invalid-credentials' });
  const closed = createAccessCheck(
    authenticator({ apiKey: '' }),
    { allowedHosts: ['*'], requireHttps: false },
    createWrongKeys(new SimulatedClock()),
  );
  t.throws(() => closed.admit(arrival({}), 'page'), { code: 'auth.misconfigured' });
});

test('a page that another site links to is asked for again, once, for the cookie that the browser kept back', (t) => {
  const check = createAccessCheck(
    authenticator(),
    { allowedHosts: ['*'], requireHttps: false },
    createWrongKeys(new SimulatedClock()),
  );
  const followed = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-dest': 'document',
  };
  const reply = (headers: Readonly<Record<string, string>>, method = 'GET') => {
    const admission = check.admit({ ...arrival(headers), method }, 'page');
    return admission.admitted ? 'admitted' : [admission.reply.status, admission.reply.headers?.[0]?.[0]];
  };
  t.deepEqual(reply(followed), [200, 'Refresh']);
  const login = [302, 'Location'];
  t.deepEqual(reply({ ...followed, 'sec-fetch-site': 'same-origin' }), login, 'the second time');
  t.deepEqual(reply({ ...followed, 'sec-fetch-site': 'none' }), login);
  t.deepEqual(reply({ ...followed, 'sec-fetch-dest': 'iframe' }), login);
  t.deepEqual(reply({ ...followed, cookie: 'c=over' }), login);
  t.deepEqual(reply(followed, 'POST'), login);
});

test('HTML is sent only to clients whose Accept header prefers it', (t) => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';
  for (const html of [
    browser,
    'text/html',
    'text/*',
    'TEXT/HTML; charset=utf-8',
    'text/html;q=0.2, */*;q=0.1',
  ]) {
    t.true(prefersHtml(html), html);
  }
  for (const other of [
    '',
    '*/*',
    'application/json',
    'application/json, text/html',
    'application/problem+json, text/html;q=0.9',
    'text/html;q=0',
    'text/html;q=none',
    'image/png',
  ]) {
    t.false(prefersHtml(other), other);
  }
});

test('JSON is asked for by its name, and not where XML has the same weight', (t) => {
  for (const json of ['application/json', 'Application/JSON;q=0.5, */*', 'application/json, text/xml;q=0.9'])
    t.true(asksForJson(json), json);
  for (const other of ['', '*/*', 'application/*', 'application/json;q=0', 'text/xml, application/json'])
    t.false(asksForJson(other), other);
});
