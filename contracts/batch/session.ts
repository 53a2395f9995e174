/** Login and logout. Source: docs/batch-values.md §0, §1 row 4, §2, §3 and §10. */
import { z } from 'zod';
import { shown } from '../fields.ts';
import { operation } from './operation.ts';

/** Maximum length of a field of a small form. */
const MAX_FIELD = 16_384;
/** Longest form with the answer of a provider, bytes: people with many groups have long ones. */
export const MAX_PROVIDER_FORM = 262_144;
/** Headers that tell the origin of a request. */
const ORIGIN_HEADERS = ['origin', 'sec-fetch-site'];

/** A missing key counts as a wrong one. */
const formText = z.string().max(MAX_FIELD);

const loginForm = z.object({
  ApiKey: shown(formText.default(''), 'The configured key.', 'the-configured-key'),
  Once: shown(formText.optional(), 'Token of a login link, in place of the key.', 'b25jZS1sb2dpbi10b2tlbg'),
  ReturnUrl: shown(formText.optional(), 'Path to go to after the login.', '/jobs'),
});

const text = z.union([z.string(), z.array(z.string()).transform(([first = '']) => first)]).optional();

/** `part=style` requests the stylesheet of the page. */
const loginQuery = z.object({
  error: shown(text, 'Which text the page shows: `invalid` or `server`. Absent: none.', 'invalid'),
  ReturnUrl: shown(
    text,
    'Path to go to after the login. Anything but a path of this service counts as `/`.',
    '/jobs',
  ),
  part: shown(text, 'Part of the page that a script asks for.', 'style'),
  once: shown(
    text,
    'Token of a login link. It is used up by the button of the page.',
    'b25jZS1sb2dpbi10b2tlbg',
  ),
});

export const logIn = operation('POST /api/auth/login', {
  auth: 'anonymous',
  group: 'Authentication',
  summary: 'Begins a session for the API key, or for a login link, and goes to a page.',
  description:
    'For browsers. The key is compared in constant time. `ReturnUrl` must be a path of this service; anything else counts as `/`. Ten failures in a minute from one address end in 429. A wrong key is answered with the login page where the client prefers HTML.',
  bodyPolicy: 'form',
  headers: ['accept', ...ORIGIN_HEADERS],
  body: loginForm,
  // Browsers receive refusals as the login page.
  replies: { 302: 'empty', 401: 'page', 429: 'page' },
  refusals: [
    'auth.cross-origin',
    'auth.invalid-credentials',
    'auth.misconfigured',
    'rate-limited',
    'validation.body-invalid',
  ],
});

export const logOut = operation('POST /api/auth/logout', {
  auth: 'anonymous',
  group: 'Authentication',
  summary: 'Ends the session, makes the browser forget it and goes to the login page.',
  description:
    'Works with and without a session. A session that began at an identity provider ends there, too: the page leads on to it.',
  headers: ['cookie', ...ORIGIN_HEADERS],
  replies: { 200: 'page', 302: 'empty' },
  refusals: ['auth.cross-origin'],
});

export const readLoginPage = operation('GET /login', {
  auth: 'anonymous',
  group: 'Pages',
  summary: 'The page on which people log in.',
  description:
    'Open to anyone. `error` (`invalid` or `server`) shows the text that belongs to it. `once` is the token of a login link: the page shows a button, which sends it as `Once` and uses it up.',
  headers: ['if-none-match'],
  query: loginQuery,
  replies: { 200: ['page', 'asset'] },
});

const providerName = z.object({
  name: shown(z.string().max(40), 'Name of an identity provider (`Identity:Providers`).', 'company'),
});

export const beginProviderLogin = operation('GET /login/{name}', {
  auth: 'anonymous',
  group: 'Pages',
  summary: 'Leads an operator to an identity provider.',
  description: 'Sets a cookie that the answer of the provider needs, and redirects.',
  params: providerName,
  query: loginQuery.pick({ ReturnUrl: true }),
  replies: { 302: 'empty', 503: 'page' },
  refusals: ['route.not-found'],
});

export const finishProviderLogin = operation('GET /login/{name}/callback', {
  auth: 'anonymous',
  group: 'Pages',
  summary: 'Takes the answer of the identity provider and begins a session.',
  description:
    'Works once, in the browser that began the login. The page leads on by itself: after a redirect from another site, browsers do not send the cookie of the session. Sixty answers a minute from one address are taken; more end in 429.',
  headers: ['cookie'],
  params: providerName,
  query: z.looseObject({
    state: shown(text, 'As the provider has received it.', 'pZ2d0v1Yk3'),
    code: shown(text, 'Code of the provider.', 'Sx7LjQ2nR8'),
  }),
  replies: { 200: 'page', 403: 'page', 503: 'page' },
  refusals: ['route.not-found', 'rate-limited', 'auth.misconfigured'],
});

export const receiveProviderAnswer = operation('POST /login/{name}/acs', {
  auth: 'anonymous',
  group: 'Pages',
  summary: 'Takes the answer of a SAML provider.',
  description:
    'The page leads on to the callback: with a form of another site, browsers do not send the cookie of the login.',
  bodyPolicy: 'form',
  maxBodyBytes: MAX_PROVIDER_FORM,
  params: providerName,
  body: z.object({
    SAMLResponse: shown(
      z.string().max(MAX_PROVIDER_FORM).default(''),
      'Answer of the provider, Base64.',
      'PHNhbWxwOlJlc3BvbnNlPg==',
    ),
  }),
  replies: { 200: 'page', 403: 'page', 503: 'page' },
  refusals: ['route.not-found', 'rate-limited', 'validation.body-invalid'],
});

export const describeToProvider = operation('GET /login/{name}/metadata', {
  auth: 'anonymous',
  group: 'Pages',
  summary: 'Returns the metadata of this service for a SAML provider.',
  description: 'The addresses are those by which this request was made.',
  params: providerName,
  reply: 'xml',
  refusals: ['route.not-found'],
});

export const endProviderSessions = operation('POST /login/{name}/logout', {
  auth: 'anonymous',
  group: 'Authentication',
  summary: 'Ends the sessions that a logout token of the identity provider names.',
  description: 'Back-channel logout: the provider calls it. A token works once, for five minutes.',
  bodyPolicy: 'form',
  params: providerName,
  body: z.object({
    logout_token: shown(formText.default(''), 'A signed logout token.', 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln'),
  }),
  replies: { 200: 'empty' },
  refusals: ['route.not-found', 'rate-limited', 'validation.body-invalid', 'service.busy'],
});
