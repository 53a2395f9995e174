import test from 'ava';
import type { SignedInUser } from '../../../actors/portal/api.ts';
import { PORTAL_REFUSALS, type PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { LANGUAGES } from '../../../contracts/portal/words.ts';
import { jsonInHtml, markup } from '../../../contracts/texts/markup.tsx';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import { errorPage } from '../../../http/portal/pages/error-page.ts';
import { signingPageOptions } from '../../../http/portal/pages/page-options.ts';
import { pageHeaders } from '../../../http/portal/pages/page-policy.ts';
import { codingFor } from '../../../http/portal/pages/portal-assets.ts';
import { documentRoutes } from '../../../http/portal/routes/documents.ts';
import { brandingRoutes } from '../../../http/portal/routes/organizations.ts';
import {
  draftRoutes,
  editorSessionRoutes,
  templateRoutes,
} from '../../../http/portal/routes/saved-requests.ts';
import { uploadRoutes } from '../../../http/portal/routes/uploads.ts';
import { signingRoutes } from '../../../http/portal/signing/signing-routes.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { deviceName } from '../../../web/pages/portal/accounts/device-name.ts';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { bulkPage } from '../../../web/pages/portal/sender/bulk-view.tsx';
import { FOLDERS_OFFERED, FolderOptions } from '../../../web/pages/portal/sender/folder-options.tsx';
import { signingPage } from '../../../web/pages/portal/signing-view.tsx';
import { counted, pageTexts } from '../../../web/pages/portal/texts.ts';
import { hideEmail, hideIdentifier } from '../../../web/pages/portal/validation-view.tsx';

test('a page has the language of its address, else of the browser, else English', (t) => {
  const spoken = (culture: string | undefined, accept: string) => textsFor(culture, accept).language;
  t.is(spoken('pt-BR', 'en'), 'pt');
  t.is(spoken('ES', ''), 'es');
  t.is(spoken('de-AT', 'en'), 'de');
  t.is(spoken('nl', 'es-MX, en;q=0.8'), 'es');
  t.is(spoken('deu', 'fr-CH'), 'fr');
  t.is(spoken(undefined, 'nl-NL, pt;q=0.5, en;q=0.6'), 'en');
  t.is(spoken(undefined, 'nl-NL, it-CH;q=0.9, fr;q=0.5'), 'it');
  t.is(spoken(undefined, 'pt;q=0, es;q=0.1'), 'es');
  t.is(spoken(undefined, 'ja'), 'en');
  t.is(spoken(undefined, ''), 'en');
});

test('every language has every sentence, with the same placeholders', (t) => {
  const english = sentences(TEXTS.en);
  t.true(english.size > 500);
  for (const language of LANGUAGES) {
    if (language === 'en') continue;
    const translated = sentences(TEXTS[language]);
    t.deepEqual([...translated.keys()].sort(), [...english.keys()].sort());
    for (const [name, text] of translated) {
      const original = english.get(name) ?? '';
      t.deepEqual(holes(text), holes(original), `${language} ${name}`);
      t.not(text.trim(), '', `${language} ${name}`);
      if (!SAME.has(text) && !SAME_IN[language]?.has(text)) t.not(text, original, `${language} ${name}`);
    }
  }
});

test('numbers of pages have a singular and a plural in each language', (t) => {
  for (const [language, showing, unseen] of [
    [
      'en',
      ['The document has one page.', 'The document has 2 pages.'],
      ['One page still to see', '2 pages still to see'],
    ],
    [
      'pt',
      ['O documento tem uma página.', 'O documento tem 2 páginas.'],
      ['Falta ver uma página', 'Falta ver 2 páginas'],
    ],
    [
      'es',
      ['El documento tiene una página.', 'El documento tiene 2 páginas.'],
      ['Queda una página por ver', 'Quedan 2 páginas por ver'],
    ],
    [
      'de',
      ['Das Dokument hat eine Seite.', 'Das Dokument hat 2 Seiten.'],
      ['Eine Seite noch anzusehen', '2 Seiten noch anzusehen'],
    ],
    [
      'fr',
      ['Le document a une page.', 'Le document a 2 pages.'],
      ['Encore une page à voir', 'Encore 2 pages à voir'],
    ],
    [
      'it',
      ['Il documento ha una pagina.', 'Il documento ha 2 pagine.'],
      ['Ancora una pagina da vedere', 'Ancora 2 pagine da vedere'],
    ],
  ] as const) {
    const { showing: pages, unseen: left } = TEXTS[language].pages.signing.script;
    const inBoth = (texts: typeof pages) => [1, 2].map((count) => counted(language, texts, count));
    t.deepEqual(inBoth(pages), [...showing]);
    t.deepEqual(inBoth(left), [...unseen]);
  }
});

test('the signing page has a sentence for each refusal of its calls, which the service words in English', (t) => {
  const none = {} as never;
  const calls = signingRoutes(none, none).filter(
    ({ method, path }) =>
      method === 'POST' &&
      path.startsWith('/api/documents/keys/') &&
      // It has a page of its own.
      !path.endsWith('/passing-on'),
  );
  t.true(calls.length > 5);
  for (const code of new Set(calls.flatMap(({ refusals }) => refusals as PortalRefusalCode[]))) {
    // The page has one sentence for all other statuses.
    if (PORTAL_REFUSALS[code].status !== 422) continue;
    t.true(Object.hasOwn(TEXTS.en.pages.signing.script.refusals, code), code);
  }
});

test('the pages of senders have a sentence for each refusal of their calls', (t) => {
  const none = { maxBytes: 1 } as never;
  const made = new Set([
    'POST /api/documents',
    'POST /api/documents/{id}/versions',
    'POST /api/uploads',
    'POST /api/document-drafts',
    'PUT /api/document-drafts/{id}',
    'POST /api/document-drafts/{id}/send',
    'POST /api/templates',
    'PUT /api/templates/{id}',
    'PUT /api/organizations/{id}/branding',
    'POST /api/editor-sessions/open',
    'PUT /api/editor-sessions/current',
    'POST /api/editor-sessions/current/uploads',
    'POST /api/editor-sessions/current/send',
  ]);
  const routes = [
    ...documentRoutes(none, none, none),
    ...draftRoutes(none, none),
    ...templateRoutes(none, none),
    ...uploadRoutes(none, none),
    ...editorSessionRoutes(none, none),
    ...brandingRoutes(none),
  ];
  const calls = routes.filter(({ method, path }) => made.has(`${method} ${path}`));
  t.is(calls.length, made.size);
  const codes = new Set<string>(calls.flatMap(({ refusals }) => refusals));
  // The page has other texts for these.
  for (const code of ['Unauthorized', 'NotFound']) codes.delete(code);
  for (const code of [...codes, 'BadRequest', 'TooManyRequests', 'ServiceBusy', 'InternalError'])
    t.true(Object.hasOwn(TEXTS.en.senders.editor.script.refusals, code), code);
});

test('JSON in a page cannot end its script element', (t) => {
  const text = jsonInHtml({ name: '</script><script>alert(1)</script>\u2028<!--' });
  t.notRegex(text, /[<\u2028]/);
  t.deepEqual(JSON.parse(text), { name: '</script><script>alert(1)</script>\u2028<!--' });
});

test('a list without a valid origin forbids all framing of the page', (t) => {
  const policy = (framing: Parameters<typeof pageHeaders>[0]) => pageHeaders(framing)[0]?.[1] ?? '';
  t.regex(policy(["https://x.example; script-src 'unsafe-inline'"]), /frame-ancestors 'none'$/);
  t.regex(policy(['https://x.example', 'javascript:alert(1)']), /frame-ancestors https:\/\/x\.example$/);
  t.regex(policy(['capacitor://localhost']), /frame-ancestors capacitor:\/\/localhost$/);
  t.notRegex(policy('any'), /frame-ancestors/, 'the star would leave out the pages of apps');
  t.regex(policy('none'), /frame-ancestors 'none'$/);
});

test('an error page has the language of the reader and different texts for overload and for a fault', (t) => {
  const fail = errorPage('none');
  const busy = fail({ status: 503, requestId: 'r-1', query: undefined, header: () => 'es' });
  t.is(busy.status, 503);
  t.true(busy.html.includes('Un momento') && busy.html.includes('Referencia: r-1'), busy.html);
  t.regex(new Map(busy.headers).get('Content-Security-Policy') ?? '', /frame-ancestors 'none'$/);
  const broken = fail({ status: 500, requestId: '<r>', query: 'culture=pt&theme=dark', header: () => 'es' });
  t.true(broken.html.includes('Algo deu errado') && broken.html.includes('data-theme="dark"'), broken.html);
  t.false(broken.html.includes('<r>'));
  // Phones would make a link of a number that looks like one of a telephone.
  t.regex(broken.html, /<meta name="format-detection" content="telephone=no[^"]*"/);
});

const SHOWN = {
  id: '00000000-0000-4000-8000-000000000001' as DocumentId,
  key: 'K',
  name: 'Lease',
  description: null,
  mimeType: 'application/pdf',
  length: 1,
  isEnvelope: false,
  organizationName: 'O',
  expirationDate: null,
  isNewVersion: false,
  version: 1,
  statusReason: null,
  endedBy: null,
  changedAt: 0 as never,
};
const ADDRESSES = {
  key: 'K',
  ticket: 'T',
  content: '/content?ticket=T',
  self: '/self',
  newLink: '/new-link',
  picture: '/picture',
  linkRequest: '/link-request',
  passOn: '/pass-on',
  attachment: (id: string) => `/${id}`,
};

test('a file is offered only while the link is valid for it', (t) => {
  for (const isLinkOver of [false, true]) {
    const view = { state: 'done', isLinkOver, document: SHOWN, embedOrigins: [] } as const;
    const html = signingPage(view, pageTexts('en'), signingPageOptions({}, false), ADDRESSES);
    t.is(html.includes('href="/content?ticket=T"'), !isLinkOver);
  }
});

test('a frame tells its page that a link is used up when nothing is left to do, not when the link has expired', (t) => {
  for (const [state, isClosed] of [
    ['canceled', true],
    ['ticket-expired', false],
  ] as const) {
    const view = { state, document: SHOWN, embedOrigins: ['https://app.example.org'] } as const;
    const html = signingPage(view, pageTexts('en'), signingPageOptions({}, true), ADDRESSES);
    t.is(html.includes('"type":"closed"'), isClosed, state);
  }
});

test('a table is explained in the language of the page: hidden rows before it is sent, and where it is wrong', (t) => {
  const page = {
    words: pageTexts('es'),
    texts: TEXTS.es.account,
    culture: undefined,
    theme: undefined,
    path: '/account/templates/t/bulk',
    address: '/account/templates/t/bulk',
  };
  const user = {
    id: 'u',
    name: 'Ana',
    email: 'ana@example.org',
    role: 'sender',
    formToken: 'f',
    tenant: { organization: { id: 'o', name: 'Org' } },
  } as unknown as SignedInUser;
  const template = { id: 't', version: 1, name: 'Lease' } as never;
  const refusal = new PortalRefusal('InvalidFlowAction', 'Row 3 has no name.');
  const leftOut = { hidden: '2, 5', empty: '4' };
  const table = { columns: ['tenant.name'], rows: [['Ana']], leftOut };
  const preview = { given: table, table, columns: ['tenant.name'], known: [], faults: [] };
  const file = { id: 'f', name: 'people.xlsx', contentType: '' };
  const shown = bulkPage(page, user, { template, mayUse: true, file, preview, key: 'k' });
  t.regex(shown, /id="hidden-rows" role="status">Filas ocultas del archivo, por un filtro o a mano: 2, 5/);
  t.regex(shown, /id="empty-rows">Filas vacías.*: 4/);
  const seen = { ...preview, given: { ...table, leftOut: { hidden: '', empty: '' } } };
  const other = bulkPage(page, user, { template, mayUse: true, file, preview: seen, key: 'k' });
  t.notRegex(other, /hidden-rows|empty-rows/);
  const html = bulkPage(page, user, { template, mayUse: true, refusal });
  t.true(html.includes(TEXTS.es.senders.editor.script.refusals.InvalidFlowAction));
  t.regex(html, /<div class="hint" lang="en"><bdi>Row 3 has no name\.<\/bdi>/);
  // A paragraph cannot hold the sentence, and would end before it.
  t.regex(html, /<div class="outcome bad" id="refusal"/);
});

test('one person whose turn is next is named, several are listed only', (t) => {
  const person = (name: string, isYou = false) =>
    ({ name, type: 'Signer', step: 1, status: isYou ? 'Completed' : 'Pending', isYou }) as const;
  for (const [others, said] of [
    [['Bruno'], 'Bruno is next.'],
    [['Bruno', 'Carla'], 'Your part is done'],
  ] as const) {
    const participants = [person('Ana', true), ...others.map((name) => person(name))];
    const view = { state: 'done', document: SHOWN, participants, embedOrigins: [] } as const;
    const html = signingPage(view, pageTexts('en'), signingPageOptions({}, false), ADDRESSES);
    t.regex(html, new RegExp(`<p class="muted">${said}`));
  }
});

test('who has acted is thanked also where the document is complete; who has not is told that it is', (t) => {
  for (const [acted, title, text] of [
    [{ at: 0 }, 'You signed it. Thank you.', 'The document is complete. '],
    [{}, 'The document is complete', 'Everybody has done their part.'],
  ] as const) {
    const you = { name: 'Ana', type: 'Signer', step: 1, status: 'Completed', isYou: true } as const;
    const view = {
      state: 'concluded',
      document: SHOWN,
      participants: [{ ...you, ...acted }],
      embedOrigins: [],
    } as const;
    const html = signingPage(view, pageTexts('en'), signingPageOptions({}, false), ADDRESSES);
    t.regex(html, new RegExp(`<h1>${title}</h1><p class="muted">${text}</p>`));
  }
});

test('a person whose deputy has acted is told so, and not thanked; others see both names', (t) => {
  const ana = { name: 'Ana', type: 'Signer', step: 1, status: 'Completed', isYou: true, at: 0 } as const;
  const participants = [{ ...ana, deputy: 'Lou' }];
  for (const state of ['done', 'concluded'] as const) {
    const view = { state, document: SHOWN, participants, embedOrigins: [] } as const;
    const html = signingPage(view, pageTexts('en'), signingPageOptions({}, false), ADDRESSES);
    t.regex(html, /<h1>Lou has acted in your place\.<\/h1>/);
    t.regex(html, /<bdi>Lou, deputy of Ana<\/bdi> \(you\)/);
    t.notRegex(html, /You signed it|data-acted/);
  }
});

test('a session names its browser and system, or what is not known as it is', (t) => {
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0';
  for (const [agent, name] of [
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`, 'Chrome, Linux'],
    [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`, 'Chrome, Android'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/140.0.0.0`, 'Edge, Windows'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Firefox, macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
      'Safari, iPhone',
    ],
    ['Tablet/1.0', 'Tablet/1.0'],
    ['', ''],
  ] as const)
    t.is(deviceName(agent), name);
});

test('invalid options in the address are ignored', (t) => {
  t.like(signingPageOptions({ page: '-1', scale: 'PAGEWIDTH', preview: 'True', theme: 'DARK' }, true), {
    page: -1,
    scale: 'pagewidth',
    hideDocument: true,
    theme: 'dark',
    notify: false,
  });
  const odd = { page: '1.5', scale: '99', preview: 'yes', theme: 'pink', notify: '1' };
  t.like(signingPageOptions(odd, true), {
    page: undefined,
    scale: undefined,
    hideDocument: false,
    theme: undefined,
    notify: false,
  });
});

test('addresses and identifiers are shown partially', (t) => {
  t.is(hideEmail('maria.silva@example.com'), 'm***@example.com');
  t.is(hideEmail('@example.com'), '***');
  t.is(hideIdentifier('12345678909'), '***567***');
  t.is(hideIdentifier('123'), '***');
});

test('scripts are compressed with an encoding that the browser accepts', (t) => {
  t.is(codingFor('gzip, deflate, br'), 'br');
  t.is(codingFor('gzip, br;q=0'), 'gzip');
  t.is(codingFor('identity'), undefined);
  t.is(codingFor(''), undefined);
});

/** Words that are the same in English and each of several languages. */
const SAME = new Set([
  'E-mail',
  'Downloads',
  'Logo',
  'Menu',
  'Original',
  'Roles',
  'URL',
  'Zoom',
  'normal',
  '{name} ({role})',
  'Authorization: Basic',
  'Authorization: Bearer',
  'X-Api-Key',
]);

/** Words that are the same in English and one other language. */
const SAME_IN: { readonly [language: string]: ReadonlySet<string> } = {
  pt: new Set(),
  es: new Set(),
  de: new Set([
    'Code',
    'Format',
    'Name',
    'Passkeys',
    'Person',
    'Person {number}',
    'Status',
    'Version',
    'Version {version}, {time}, {name}',
  ]),
  fr: new Set([
    'Actions',
    'Applications',
    'Code',
    'Date',
    'Document',
    'Documents',
    'Format',
    'Message',
    'Page',
    'Pages',
    'Participants',
    'Signature',
    'Signatures',
    'Version',
    'Version {version}, {time}, {name}',
    'Versions',
    '{count} document',
    '{count} documents',
  ]),
  it: new Set(['File']),
};

/** Path → text. */
function sentences(words: object, path = ''): Map<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of Object.entries(words) as [string, unknown][]) {
    const place = `${path}/${name}`;
    if (typeof value === 'string') all.set(place, value);
    else for (const [inner, text] of sentences(value as object, place)) all.set(inner, text);
  }
  return all;
}

function holes(text: string): readonly string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([hole]) => hole).sort();
}

test('a choice of folders says that it does not list all of them', (t) => {
  const folders = Array.from({ length: FOLDERS_OFFERED }, (_, index) => ({
    id: String(index),
    name: `F${index}`,
  }));
  const choice = (few: typeof folders) =>
    markup(FolderOptions({ folders: few, chosen: '7', more: 'Others are not listed' })).text;
  t.regex(choice(folders), /<option value="7" selected>F7<\/option>/);
  t.regex(choice(folders), /<option disabled>Others are not listed<\/option>$/);
  t.notRegex(choice(folders.slice(1)), /Others/);
});
