/** Names of many scripts through a whole flow over HTTP: marks, manifest, downloads, mails, events, lists and exports. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import exceljs from 'exceljs';
import { type PortalProgram, SAMPLE, startProgram, until } from '../../../actors/portal/service.ts';
import { startReceiver } from '../../../actors/portal/webhooks/receiver.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { type Started, selfSigned, signatureValue, ticketOf } from './certificate-client.ts';

const test = withTools(anyTest as TestFn<PortalProgram>, 'pdfsig', 'pdftotext', 'mutool');

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await startProgram(shared);
});

const NAMES = {
  chinese: '王小明',
  japanese: '山田さくら',
  korean: '김민수',
  thai: 'สมชาย น้ำใส',
  arabic: 'محمد علي الأحمد',
  hebrew: 'שלום כהן',
  devanagari: 'श्रीमती क्षत्रिय',
} as const;
const PEOPLE = Object.entries(NAMES);
/** These sign with a certificate, after the others. */
const WITH_CERTIFICATE = ['arabic', 'thai'];

const TITLE = '契約書 さくら 계약 สัญญา عقد חוזה अनुबंध';
const FILE = { ...SAMPLE, name: `${TITLE}.pdf` };
const REASON = '错误 誤り 오류 ผิด خطأ שגיאה त्रुटि';

const FLOW = PEOPLE.map(([script, name], index) => ({
  title: `買方 ${name}`,
  user: { name, email: `${script}@example.org` },
  allowElectronicSignature: true,
  step: WITH_CERTIFICATE.includes(script) ? 2 : 1,
  prePositionedMarks: [
    {
      topLeftX: 5 + 145 * (index % 2),
      topLeftY: 2 + 49 * Math.floor(index / 2),
      width: 140,
      height: 46,
      pageNumber: 1,
    },
  ],
}));

interface Detail {
  readonly name: string;
  readonly status: string;
  readonly organization: { readonly id: string };
  readonly flowActions: readonly { readonly title: string; readonly user: { readonly name: string } }[];
  readonly statusUpdateReason: string | null;
}

/** Text as people read it: without signs of direction, which tools add, and in composed letters. */
const read = (text: string) => text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').normalize('NFC');

/** Value of a header, which has only ASCII; each encoded word is at most 75 characters and UTF-8 of whole characters. */
function headerOf(raw: string, name: string): string {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const lines = head.split('\r\n');
  for (const line of lines)
    if (!/^[\x20-\x7e\t]{1,998}$/.test(line)) throw new Error(`a header has other characters: ${line}`);
  const start = lines.findIndex((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  let value = (lines[start] ?? '').slice(name.length + 1);
  for (let at = start + 1; /^[ \t]/.test(lines[at] ?? ''); at += 1) value += lines[at];
  const joined = value.replace(/(=\?[^?\s]+\?[QBqb]\?[^?\s]*\?=)\s+(?==\?)/g, '$1');
  return joined
    .replace(
      /=\?([^?\s]+)\?([QBqb])\?([^?\s]*)\?=/g,
      (word, charset: string, encoding: string, text: string) => {
        if (word.length > 75 || charset.toUpperCase() !== 'UTF-8')
          throw new Error(`wrong encoded word ${word}`);
        const bytes =
          encoding.toUpperCase() === 'B'
            ? Buffer.from(text, 'base64')
            : Buffer.from(
                text
                  .replaceAll('_', ' ')
                  .replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
                    String.fromCharCode(Number.parseInt(hex, 16)),
                  ),
                'latin1',
              );
        return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      },
    )
    .trim();
}

/** File name of a reply: ASCII in the plain parameter, and decoded from the extended one. */
function fileNameOf(answer: Response): string {
  const value = answer.headers.get('content-disposition') ?? '';
  const [, plain, extended = ''] =
    /^attachment; filename="([\x20-\x7e]+)"; filename\*=UTF-8''([!#$&+.^_`|~\w%-]+)$/.exec(value) ?? [];
  if (plain === undefined) throw new Error(`another content-disposition: ${value}`);
  return decodeURIComponent(extended);
}

test.serial('names in many scripts stay whole in a flow from the creation to the exports', async (t) => {
  const { acme, service } = t.context;
  const receiver = await startReceiver(t);
  const first = await acme.create([
    { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true },
  ]);
  const { organization } = await acme.get<Detail>(`/api/documents/${first}`);
  await acme.post(`/api/organizations/${organization.id}/webhooks`, { url: receiver.url });

  const upload = await acme.upload(FILE);
  t.is(upload.name, FILE.name);
  const [made] = await acme.post<{ documentId: string }[]>('/api/documents', {
    files: [{ ...upload, displayName: TITLE }],
    flowActions: FLOW,
    tags: [{ label: '種類', value: 'ערך' }],
  });
  const id = made?.documentId ?? '';
  const path = `/api/documents/${id}`;
  const detail = await acme.get<Detail>(path);
  t.is(detail.name, TITLE);
  t.deepEqual(
    detail.flowActions.map(({ title, user }) => [title, user.name]).toSorted(),
    FLOW.map(({ title, user }) => [title, user.name]).toSorted(),
  );

  for (const [script, name] of PEOPLE.toSorted(
    ([a], [b]) => Number(WITH_CERTIFICATE.includes(a)) - Number(WITH_CERTIFICATE.includes(b)),
  )) {
    const { key, ticket } = await ticketOf(acme, id, `${script}@example.org`);
    if (!WITH_CERTIFICATE.includes(script)) {
      await acme.post(`/api/documents/keys/${key}/electronic-signature`, { ticket, typedName: name });
      continue;
    }
    const own = selfSigned(name);
    const certificate = own.certificate.toString('base64');
    const begin = `/api/documents/keys/${key}/signature`;
    const started = await acme.post<Started>(`${begin}/certificate`, { ticket, certificate });
    await acme.post(begin, { token: started.token, signature: signatureValue(own, started) });
  }
  await until(async () => ((await acme.get<Detail>(path)).status === 'Concluded' ? true : undefined));

  const download = async (type: string) => {
    const answer = await acme.fetch(`${path}/content?type=${type}`);
    const file = join(service.root, `${type}.pdf`);
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    return { file, name: fileNameOf(answer) };
  };
  const signed = await download('Signatures');
  t.true(signed.name.startsWith(TITLE), signed.name);
  const manifest = await download('SignaturesManifest');
  t.true(manifest.name.startsWith(TITLE), manifest.name);

  const { signers } = await acme.get<{ signers: readonly { subjectName: string }[] }>(
    `${path}/signatures-details`,
  );
  t.is(signers.length, PEOPLE.length);

  // Lists and searches.
  for (const [, name] of PEOPLE)
    for (const query of [`Q=${encodeURIComponent(name)}`, `ParticipantQ=${encodeURIComponent(name)}`]) {
      const { items } = await acme.get<{ items: { id: string }[] }>(`/api/documents?${query}`);
      if (query.startsWith('P'))
        t.deepEqual(
          items.map((one) => one.id),
          [id],
          query,
        );
    }
  const titled = await acme.get<{ items: { id: string }[] }>(
    `/api/documents?Q=${encodeURIComponent(TITLE.slice(4))}`,
  );
  t.deepEqual(
    titled.items.map((one) => one.id),
    [id],
  );

  // Exports.
  const csv = Buffer.from(await (await acme.fetch('/api/documents/export')).arrayBuffer()).toString();
  t.true(csv.startsWith('\ufeff') && csv.includes(`"${TITLE}"`) && csv.includes('種類|ערך'), csv);
  // The documents may have been made before midnight.
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const { location } = await t.context.monitor.post<{ location: string }>('/api/reports/documents/date', {
    startDateUtc: day(1),
    endDateUtc: day(0),
  });
  const report = await fetch(`${t.context.url}${location}`);
  const book = new exceljs.Workbook();
  await book.xlsx.load((await report.arrayBuffer()) as never);
  const cells: unknown[] = [];
  book.worksheets[0]?.eachRow((row) => void cells.push(...(row.values as unknown[])));
  t.true(cells.includes(TITLE), JSON.stringify(cells));

  // A cancellation with a reason, which mails tell.
  const other = await acme.create([FLOW[0] ?? {}], {}, FILE);
  await acme.post(`/api/documents/${other}/cancellation`, { reason: REASON });
  t.is((await acme.get<Detail>(`/api/documents/${other}`)).statusUpdateReason, REASON);

  // Events.
  const events = await until(async () => {
    const bodies = receiver.calls.map(({ body }) => body);
    return ['DocumentConcluded', 'DocumentCanceled'].every((type) =>
      bodies.some((body) => body.includes(type)),
    )
      ? bodies
      : undefined;
  });
  const eventBodies = events.map((body) => JSON.stringify(JSON.parse(body))).join('\n');
  for (const text of [...Object.values(NAMES), TITLE, REASON]) t.true(eventBodies.includes(text), text);

  // Mails.
  const folder = join(service.root, 'mail');
  const mailsOf = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.eml'))
      .map((name) => readFileSync(join(folder, name), 'latin1'));
  const raws = await until(async () => {
    const all = mailsOf();
    const count = (address: string) =>
      all.filter((raw) => headerOf(raw, 'To').includes(`<${address}>`)).length;
    return PEOPLE.every(([script]) => count(`${script}@example.org`) >= 2) ? all : undefined;
  });
  for (const [script, name] of PEOPLE) {
    const own = raws.filter((raw) => headerOf(raw, 'To').includes(`<${script}@example.org>`));
    for (const raw of own) {
      t.is(read(headerOf(raw, 'To')).replaceAll('"', ''), `${name} <${script}@example.org>`);
      t.true(read(headerOf(raw, 'Subject')).includes(TITLE.slice(0, 10)), headerOf(raw, 'Subject'));
      t.regex(headerOf(raw, 'From'), /^[^<]+<[^<>\s]+@[^<>\s]+>$/);
    }
  }

  // Verifiers and readers of PDF.
  const { stdout: verdicts } = await runTool('pdfsig', ['-nocert', signed.file]);
  t.is(verdicts.split('Signature is Valid.').length - 1, PEOPLE.length, verdicts);
  const { stdout: marks } = await runTool('pdftotext', ['-enc', 'UTF-8', signed.file, '-']);
  const { stdout: listed } = await runTool('pdftotext', ['-enc', 'UTF-8', manifest.file, '-']);
  const { stdout: drawn } = await runTool('mutool', ['draw', '-q', '-F', 'txt', signed.file]);
  for (const name of Object.values(NAMES)) {
    t.true(read(marks).includes(name.normalize('NFC')), `${name} in pdftotext: ${marks}`);
    t.true(read(listed).includes(name.normalize('NFC')), `${name} in the manifest: ${listed}`);
    // This tool writes letters in the order in which they are drawn, from the left.
    const shown = [...name.normalize('NFC')];
    const inOrder = /\p{Script=Arabic}|\p{Script=Hebrew}/u.test(name) ? shown.toReversed() : shown;
    t.true(read(drawn).includes(inOrder.join('')), `${name} in mutool: ${drawn}`);
  }
});
