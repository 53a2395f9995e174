/** Kept trusted lists: refreshed from a folder and over HTTP, never older than before, within bounds. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { CryptoError } from '#crypto/core/types.js';
import { createHttpTransport } from '#crypto/evidence/http-transport.js';
import {
  folderSource,
  keptLists,
  type ListSource,
  networkSource,
  readKeptState,
  refreshLists,
} from '#crypto/trust-lists/kept-lists.js';
import {
  AT,
  authorityOf,
  fingerprints,
  JOURNAL,
  LOCATION,
  listSigner,
  listText,
  lotlText,
  providerText,
  signList,
} from './own-lists.ts';

const DAY = 86_400_000;
const signer = listSigner('scheme');
const stranger = listSigner('stranger');
const authority = authorityOf('BE');
const providers = providerText(authority.certificate);
const POINTERS = [
  { territory: 'BE', signers: [signer] },
  { territory: 'FR', signers: [signer] },
];
const lotl = (sequence: number, more: Parameters<typeof lotlText>[1] = {}) =>
  signList(lotlText([signer], { pointers: POINTERS, sequence, ...more }), signer);
const national = (territory: string, sequence: number, by = signer) =>
  signList(listText({ territory, sequence, providers }), by);

/** Lists by the names of their files. */
type Files = { readonly [name: string]: Buffer };
const GOOD: Files = { 'eu-lotl.xml': lotl(9), 'BE.xml': national('BE', 7), 'FR.xml': national('FR', 3) };
const anchor = { location: LOCATION, journal: JOURNAL, signers: fingerprints(signer) };

function place(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-kept-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const of = { folder: join(folder, 'kept'), anchor };
  const bundle = join(folder, 'bundle');
  const from = (files: Files): ListSource => {
    rmSync(bundle, { recursive: true, force: true });
    mkdirSync(bundle);
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(bundle, name), bytes);
    return folderSource(bundle);
  };
  const refresh = async (files: Files, at = AT) => {
    const problems: string[] = [];
    const kept = await refreshLists({ place: of, sources: [from(files)], at }, problems);
    return { kept, problems };
  };
  return { of, refresh };
}

test('lists of a folder are kept, read again after a refresh, and stay when it brings nothing', async (t) => {
  const { of, refresh } = place(t);
  const lists = keptLists(of, () => AT);
  t.is(lists().listOf('BE'), undefined);
  const first = await refresh(GOOD);
  t.deepEqual(first.problems, []);
  t.like(first.kept, { sequence: 9, territories: ['BE', 'FR'], endsAt: AT + 90 * DAY });
  t.is(lists().listOf('BE')?.sequence, 7);
  const second = await refresh({ 'eu-lotl.xml': lotl(10), 'BE.xml': national('BE', 8) });
  t.deepEqual(second.problems, []);
  t.is(lists().listOf('BE')?.sequence, 8);
  t.is(lists().listOf('FR')?.sequence, 3, 'as it was');
  await refresh({ 'eu-lotl.xml': lotl(11), 'BE.xml': national('BE', 9) });
  t.is(readdirSync(of.folder).length, 4, 'what another node may read or write');
  for (const name of readdirSync(of.folder))
    utimesSync(join(of.folder, name), new Date(0), new Date(Date.now() - 2 * DAY));
  await refresh(GOOD);
  t.is(readdirSync(of.folder).length, 3, 'this state and the one before, which may still be read');
});

test('lists of several countries are fetched at once, and judged in their order', async (t) => {
  const { of } = place(t);
  const territories = 'BE DE IT ES FR PT PL HU RO BG'.split(' ');
  const pointers = [
    ...territories.map((territory) => ({ territory, signers: [signer] })),
    // Another pointer of a country is followed where the first one leads nowhere, and only then.
    { territory: 'BE', signers: [signer], location: 'https://example.org/BE-2.xml' },
    { territory: 'DE', signers: [signer], location: 'https://example.org/DE-2.xml' },
  ];
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  const source: ListSource = async (address, territory) => {
    asked.push(address.replace(/.*\//, ''));
    if (territory === undefined) return lotl(9, { pointers });
    most = Math.max(most, ++running);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    running -= 1;
    if (address.endsWith('DE.xml')) return undefined;
    if (territory === 'IT' || territory === 'HU')
      throw new CryptoError('authority.unreachable', 'No answer.');
    return national(territory, 3);
  };
  const problems: string[] = [];
  const kept = await refreshLists({ place: of, sources: [source], at: AT }, problems);
  t.deepEqual(kept?.territories, ['BE', 'ES', 'FR', 'PT', 'PL', 'RO', 'BG', 'DE']);
  t.is(most, 6);
  t.is(asked.filter((name) => name === 'BE-2.xml').length, 0);
  t.is(new Set(asked).size, asked.length, 'each once');
  const about = (territory: string) => problems.findIndex((one) => one.includes(` of ${territory}`));
  t.true(about('IT') >= 0 && about('IT') < about('HU'), JSON.stringify(problems));
});

test('an older list is never taken again: now, after a restart, and by hand', async (t) => {
  const { of, refresh } = place(t);
  await refresh(GOOD);
  const older = { ...GOOD, 'eu-lotl.xml': lotl(8), 'BE.xml': national('BE', 6) };
  const { problems, kept } = await refresh(older);
  t.deepEqual(problems, [
    'The list of lists has the sequence number 8, but 9 was accepted before.',
    'The list of BE has the sequence number 6, but 7 was accepted before.',
  ]);
  t.is(kept?.sequence, 9);
  t.is(keptLists(of, () => AT)().listOf('BE')?.sequence, 7);
  // The files in use replaced by hand: the state says what was accepted.
  const { generation } = JSON.parse(readFileSync(join(of.folder, 'lists.json'), 'utf8'));
  writeFileSync(join(of.folder, generation, 'BE.xml'), national('BE', 6));
  t.is(keptLists(of, () => AT)().listOf('BE'), undefined);
  writeFileSync(join(of.folder, generation, 'eu-lotl.xml'), lotl(8));
  t.is(keptLists(of, () => AT)().listOf('FR'), undefined);
});

test('lists that somebody removed come again, and no older ones', async (t) => {
  const { of, refresh } = place(t);
  await refresh(GOOD);
  for (const name of readdirSync(of.folder))
    if (name !== 'lists.json') rmSync(join(of.folder, name), { recursive: true });
  t.is(keptLists(of, () => AT)().listOf('BE'), undefined);
  const older = await refresh({ ...GOOD, 'BE.xml': national('BE', 6) });
  t.deepEqual(older.kept?.territories, ['FR']);
  t.deepEqual((await refresh(GOOD)).kept?.territories, ['BE', 'FR']);
});

test('an older issue of the same number is not taken', async (t) => {
  const { refresh } = place(t);
  await refresh(GOOD);
  const past = new Date(AT - 5 * DAY).toISOString();
  const text = listText({ sequence: 7, providers }).replace(
    /<ListIssueDateTime>[^<]*/,
    `<ListIssueDateTime>${past}`,
  );
  const { problems } = await refresh({ ...GOOD, 'BE.xml': signList(text, signer) });
  t.deepEqual(problems, ['The list of BE is an older issue of what was accepted before.']);
});

test('a state that cannot be read stops refreshes, and nobody has a list', async (t) => {
  const { of, refresh } = place(t);
  await refresh(GOOD);
  const whole = JSON.parse(readFileSync(join(of.folder, 'lists.json'), 'utf8'));
  const wrong = [{ generation: '../../x' }, { reached: null }, { reached: { a: {} } }, { territories: null }]
    .concat([{ endsAt: 'late' }, { problems: [1] }, { version: 2 }] as never)
    .map((member) => JSON.stringify({ ...whole, ...member }));
  for (const text of ['', '{}', 'null', ...wrong]) {
    writeFileSync(join(of.folder, 'lists.json'), text);
    await t.throwsAsync(refresh(GOOD), { code: 'request.invalid', message: /nobody knows/ });
    t.throws(() => readKeptState(of.folder), { code: 'request.invalid' });
    t.is(keptLists(of, () => AT)().listOf('BE'), undefined);
  }
});

test('what another node has reached meanwhile stays', async (t) => {
  const { of, refresh } = place(t);
  await refresh(GOOD);
  const newer = { ...GOOD, 'eu-lotl.xml': lotl(12), 'BE.xml': national('BE', 12) };
  const late: ListSource = async (address, territory) => {
    if (address === LOCATION) await refresh(newer);
    return territory === undefined ? lotl(11) : national(territory, 11);
  };
  t.is((await refreshLists({ place: of, sources: [late], at: AT }))?.sequence, 12);
  t.is(readKeptState(of.folder)?.sequence, 12);
  t.is(keptLists(of, () => AT)().listOf('BE')?.sequence, 12);
});

test('a state that another node is about to replace is left, unless that node has ended', async (t) => {
  const { of, refresh } = place(t);
  await refresh(GOOD);
  const { generation } = JSON.parse(readFileSync(join(of.folder, 'lists.json'), 'utf8'));
  const taken = join(of.folder, `lists.json.${generation}`);
  writeFileSync(taken, '');
  const newer = { ...GOOD, 'eu-lotl.xml': lotl(10) };
  t.is((await refresh(newer)).kept?.sequence, 9);
  utimesSync(taken, new Date(0), new Date(0));
  t.is((await refresh(newer)).kept?.sequence, 9);
  t.is((await refresh(newer)).kept?.sequence, 10);
});

test('a wrong clock destroys no national list', async (t) => {
  const { of, refresh } = place(t);
  const later = signList(listText({ territory: 'FR', sequence: 3, providers }), signer, AT);
  await refresh({ ...GOOD, 'FR.xml': later });
  const wrong = AT - DAY / 2;
  const { kept, problems } = await refresh({}, wrong);
  t.deepEqual(kept?.territories, ['BE']);
  t.regex(problems.join(' '), /no authentic list of FR/);
  t.is(keptLists(of, () => wrong)().listOf('FR'), undefined);
  t.is(keptLists(of, () => AT)().listOf('FR')?.sequence, 3);
  t.deepEqual((await refresh({})).kept?.territories, ['BE', 'FR']);
});

test('a list that could not be read is tried again a minute later', async (t) => {
  const { of, refresh } = place(t);
  await refresh(GOOD);
  let now = AT;
  const { generation } = JSON.parse(readFileSync(join(of.folder, 'lists.json'), 'utf8'));
  const file = join(of.folder, generation, 'BE.xml');
  const folder = join(of.folder, generation);
  const hidden = keptLists(of, () => now);
  renameSync(folder, `${folder}.hidden`);
  t.is(hidden().listOf('BE'), undefined);
  renameSync(`${folder}.hidden`, folder);
  now += 59_999;
  t.is(hidden().listOf('BE'), undefined);
  now += 1;
  t.is(hidden().listOf('BE')?.sequence, 7);
  const bytes = readFileSync(file);
  const lists = keptLists(of, () => now);
  t.is(lists().listOf('FR')?.sequence, 3);
  writeFileSync(file, '');
  t.is(lists().listOf('BE'), undefined);
  writeFileSync(file, bytes);
  t.is(lists().listOf('BE'), undefined);
  now += 60_000;
  t.is(lists().listOf('BE')?.sequence, 7);
});

test('pivots may end in the same segment', async (t) => {
  const { of } = place(t);
  const a = 'https://lists.test/a/pivot.xml';
  const b = 'https://lists.test/b/pivot.xml';
  const at: { readonly [address: string]: Buffer } = {
    [LOCATION]: lotl(9, { uris: [a, b, JOURNAL] }),
    [a]: lotl(8, { uris: [a, b, JOURNAL] }),
    [b]: lotl(7, { uris: [b, JOURNAL] }),
  };
  const source: ListSource = async (address, territory) =>
    territory === undefined ? at[address] : national(territory, 7);
  const problems: string[] = [];
  const kept = await refreshLists({ place: of, sources: [source], at: AT }, problems);
  t.deepEqual(problems, []);
  t.is(kept?.sequence, 9);
  t.is(keptLists(of, () => AT)().listOf('BE')?.sequence, 7);
  t.deepEqual((await refreshLists({ place: of, sources: [], at: AT }))?.territories, ['BE', 'FR']);
});

test('what an unproven list says is not repeated at length', async (t) => {
  const { refresh } = place(t);
  const far = `https://other.test/${'x'.repeat(5000)}.xml`;
  const { problems } = await refresh({ ...GOOD, 'eu-lotl.xml': lotl(10, { uris: [far, JOURNAL] }) });
  t.regex(problems[0] ?? '', /^The list of lists has the pivot https:\/\/other\.test/);
  t.true(problems.every(({ length }) => length <= 300));
});

const PIVOT = 'https://lists.test/pivot.xml';

/** Files of a folder, and the problem of its refresh. */
const REFUSED: { readonly [name: string]: readonly [files: Files, problem: RegExp] } = {
  'a national list signed by another key': [
    { ...GOOD, 'BE.xml': national('BE', 8, stranger) },
    /list of BE is signed by a certificate that may not sign it/,
  ],
  'a list of another territory': [{ ...GOOD, 'BE.xml': national('FR', 8) }, /list of BE is that of FR/],
  'a list of lists signed by another key': [
    { ...GOOD, 'eu-lotl.xml': signList(lotlText([signer], { pointers: POINTERS, sequence: 10 }), stranger) },
    /list of lists is signed by a certificate that may not sign it/,
  ],
  'a pivot that is left out': [
    { ...GOOD, 'eu-lotl.xml': lotl(10, { uris: [PIVOT, JOURNAL] }) },
    /needs the pivot .*, which is not there/,
  ],
  'a pivot on another server': [
    { ...GOOD, 'eu-lotl.xml': lotl(10, { uris: ['http://169.254.169.254/pivot.xml', JOURNAL] }) },
    /pivot .*, which is on another server/,
  ],
  'a newer journal': [
    { ...GOOD, 'eu-lotl.xml': lotl(10, { uris: ['https://journal.test/C/2027/1/oj', JOURNAL] }) },
    /names a newer journal than the configured one/,
  ],
  'a list of lists past its renewal': [
    { ...GOOD, 'eu-lotl.xml': lotl(10, { nextUpdate: AT - 1 }) },
    /list of lists was to be renewed by/,
  ],
  'a list with a document type': [
    { ...GOOD, 'BE.xml': Buffer.from('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>') },
    /list of BE can't be read/,
  ],
  'a page of a server that is down': [
    { ...GOOD, 'eu-lotl.xml': Buffer.from('<html><title>Server unavailable</title></html>') },
    /list of lists/,
  ],
  'a list that is too long': [{ ...GOOD, 'BE.xml': Buffer.alloc(2 ** 24 + 1, 32) }, /has more than 16777216/],
};

for (const [name, [files, problem]] of Object.entries(REFUSED)) {
  test(`${name} is refused; what was kept stays, and without it there is none`, async (t) => {
    const { of, refresh } = place(t);
    await refresh(GOOD);
    const again = await refresh(files);
    t.regex(again.problems.join(' '), problem);
    const lists = keptLists(of, () => AT);
    t.is(again.kept?.sequence, 9);
    t.is(lists().listOf('BE')?.sequence, 7);
    t.is(lists().listOf('FR')?.sequence, 3);
    const fresh = place(t);
    const { kept } = await fresh.refresh(files);
    t.is(kept?.territories.includes('BE') ?? false, false);
    t.is(keptLists(fresh.of, () => AT)().listOf('BE'), undefined);
  });
}

test('the list of lists past its renewal goes on with a problem, a national list with a note', async (t) => {
  const { of, refresh } = place(t);
  await refresh(GOOD);
  const at = AT + 91 * DAY;
  const { kept, problems } = await refresh({}, at);
  t.is(kept?.sequence, 9);
  t.deepEqual(problems, [
    'The list of lists was to be renewed by 2026-08-30T00:00:00.000Z.',
    'The list of BE ended on 2026-08-30.',
    'The list of FR ended on 2026-08-30.',
  ]);
  const lists = keptLists(of, () => at)();
  t.is(lists.listOf('BE')?.sequence, 7);
  t.is(lists.endsAt, AT + 90 * DAY);
});

/** Serves on loopback. @returns the origin */
async function serve(t: ExecutionContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Refreshes over HTTP; the list of lists is at `origin`, its pointers name what they are given. */
async function overNetwork(
  t: ExecutionContext,
  origin: string,
  { allowPrivate = false, timeoutMs = 500 }: { allowPrivate?: boolean; timeoutMs?: number } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-kept-'));
  const transport = createHttpTransport({ allowPrivate });
  t.teardown(() => {
    transport.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const location = `${origin}/eu-lotl.xml`;
  const problems: string[] = [];
  const sources = [networkSource(transport, { location, timeoutMs })];
  const refresh = {
    place: { folder: join(folder, 'kept'), anchor: { ...anchor, location } },
    sources,
    at: AT,
  };
  return { kept: await refreshLists(refresh, problems), problems };
}

/** The list of lists of a server, whose pointers name an address. */
function lotlAt(origin: string, location: string): Buffer {
  const pointers = [{ territory: 'BE', signers: [signer], location }];
  const text = lotlText([signer], { pointers }).replaceAll(LOCATION, `${origin}/eu-lotl.xml`);
  return signList(text, signer);
}

test('lists are fetched from their addresses, once each', async (t) => {
  const asked: string[] = [];
  const origin: string = await serve(t, ({ url = '' }, response) => {
    asked.push(url);
    response.end(url === '/be.xml' ? national('BE', 7) : lotlAt(origin, `${origin}/be.xml`));
  });
  const { kept, problems } = await overNetwork(t, origin, { allowPrivate: true });
  t.deepEqual(problems, []);
  t.deepEqual(kept?.territories, ['BE']);
  t.deepEqual(asked, ['/eu-lotl.xml', '/be.xml']);
});

test('a list that names, or redirects to, a private address is not fetched from there', async (t) => {
  const asked: string[] = [];
  const inner = await serve(t, ({ url = '' }, response) => {
    asked.push(url);
    response.end(national('BE', 7));
  });
  const origin: string = await serve(t, (_, response) => response.end(lotlAt(origin, `${inner}/be.xml`)));
  const named = await overNetwork(t, origin);
  t.regex(named.problems.join(' '), /127\.0\.0\.1 has no public address/);
  t.deepEqual(named.kept?.territories, []);
  const redirecting = await serve(t, (_, response) => {
    response.writeHead(302, { location: `${inner}/eu-lotl.xml` }).end();
  });
  const redirected = await overNetwork(t, redirecting);
  t.is(redirected.kept, undefined);
  t.regex(redirected.problems.join(' '), /127\.0\.0\.1 has no public address/);
  t.deepEqual(asked, []);
});

test('a slow server and a long answer end, also one that grows when it is unpacked', async (t) => {
  const bomb = gzipSync(Buffer.alloc(2 ** 24 + 1));
  const origin: string = await serve(t, ({ url = '' }, response) => {
    if (url === '/eu-lotl.xml') response.end(lotlAt(origin, `${origin}/slow.xml`));
    // One byte, and no more.
    else response.write(' ');
  });
  const slow = await overNetwork(t, origin, { allowPrivate: true, timeoutMs: 200 });
  t.regex(slow.problems.join(' '), /no answer within 200 milliseconds/);
  const packed = await serve(t, (_, response) => response.end(bomb));
  const long = await overNetwork(t, packed, { allowPrivate: true });
  t.is(long.kept, undefined);
  t.regex(long.problems.join(' '), /more than 16777216 bytes/);
});

type Answerer = (response: ServerResponse, url: string) => void;
const LIST = national('BE', 7);

/** Answers of servers of lists in reports of others; undefined: it is read, else why not. */
const SERVERS: { readonly [what: string]: readonly [Answerer, RegExp | undefined] } = {
  'packs the list': [
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(LIST)),
    undefined,
  ],
  'puts a byte order mark before it': [
    (response) => response.end(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), LIST])),
    undefined,
  ],
  'calls it plain text': [
    (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(LIST),
    undefined,
  ],
  'has moved it': [
    (response, url) =>
      url.endsWith('moved')
        ? response.end(LIST)
        : response.writeHead(301, { location: '/be.xml?moved' }).end(),
    undefined,
  ],
  'moves it in a circle': [
    (response) => response.writeHead(302, { location: '/be.xml' }).end(),
    /redirects more than 3 times/,
  ],
  'has lost it': [(response) => response.writeHead(404).end('gone'), /404/],
  'is closed for maintenance': [(response) => response.writeHead(503).end(), /503/],
  'answers with a page': [
    (response) => response.end('<html><body>Maintenance</body></html>'),
    /BE is no trusted list/,
  ],
  'answers with nothing': [(response) => response.end(), /list of BE/],
  'ends before the end': [
    (response) => {
      response.writeHead(200, { 'content-length': LIST.length });
      response.write(LIST.subarray(0, 1000), () => response.destroy());
    },
    /127\.0\.0\.1/,
  ],
  'hangs up': [(response) => response.destroy(), /127\.0\.0\.1/],
  'gives a list of the day before its key': [
    (response) => response.end(national('BE', 7, stranger)),
    /signed by a certificate that may not sign it/,
  ],
};

for (const [what, [answer, problem]] of Object.entries(SERVERS))
  test.serial(
    `a server that ${what} ${problem === undefined ? 'is read' : 'leaves its country without a list'}`,
    async (t) => {
      const origin: string = await serve(t, ({ url = '' }, response) => {
        if (url === '/eu-lotl.xml') response.end(lotlAt(origin, `${origin}/be.xml`));
        else answer(response, url);
      });
      const { kept, problems } = await overNetwork(t, origin, { allowPrivate: true, timeoutMs: 5_000 });
      t.deepEqual(kept?.territories, problem === undefined ? ['BE'] : [], problems.join(' '));
      if (problem === undefined) t.deepEqual(problems, []);
      else t.regex(problems.join(' '), problem);
    },
  );

test.serial(
  'readers see whole issues of lists while others are fetched, and never an older one',
  async (t) => {
    const { of } = place(t);
    const immediate = () => new Promise<void>((resolve) => setImmediate(resolve));
    const refresh = (sequence: number) => {
      const files: Files = {
        EU: lotl(sequence),
        BE: national('BE', sequence),
        FR: national('FR', sequence),
      };
      const source: ListSource = async (_, territory = 'EU') => {
        await immediate();
        return files[territory];
      };
      return refreshLists({ place: of, sources: [source], at: AT });
    };
    await refresh(1);
    const readers = Array.from({ length: 4 }, () => ({ lists: keptLists(of, () => AT), newest: 1, read: 0 }));
    let isOver = false;
    const reading = readers.map(async (reader) => {
      while (!isOver) {
        const lists = reader.lists();
        const first = lists.listOf('BE')?.sequence ?? 0;
        // The folder may be replaced between the two.
        await immediate();
        t.is(lists.listOf('FR')?.sequence, first);
        t.true(first >= reader.newest, `${first} after ${reader.newest}`);
        reader.newest = first;
        reader.read += 1;
      }
    });
    for (let sequence = 2; sequence <= 8; sequence++) await refresh(sequence);
    isOver = true;
    await Promise.all(reading);
    for (const { lists, read } of readers) {
      t.is(lists().listOf('BE')?.sequence, 8);
      t.true(read > 8);
    }
  },
);
