/** Malformed requests to every endpoint of the real program: each reply has a code and none is an internal error. */
import test from 'ava';
import { type Client, SAMPLE, sharedProgram, startProgram } from '../../actors/portal/service.ts';
import { portalTable } from '../descriptions.ts';

const LONG = 'x'.repeat(5000);
/** Values that are invalid for most members. */
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  0.5,
  '',
  ' ',
  LONG,
  '\u0000',
  '\ud800',
  'é'.repeat(300),
  '../../etc/passwd',
  '<script>',
  '00000000-0000-4000-8000-000000000000',
  '2026-13-45T99:99:99Z',
  '9999-12-31',
  [],
  {},
  [null],
  [[[]]],
  [{ id: 7, user: null }],
  { toString: 1, __proto__: null },
];

/** Values that a path can contain. */
const TEXTS = VALUES.filter((value) => typeof value === 'string').filter(
  (text) => text.trim() !== '' && text !== '\ud800',
);

/** Names of members of any request. */
const NAMES = [
  'additionalInfo',
  'addedFlowActions',
  'bytes',
  'certificate',
  'deleteAction',
  'documents',
  'email',
  'emailAddress',
  'emails',
  'endDateUtc',
  'expirationDate',
  'file',
  'fileId',
  'files',
  'flowActionId',
  'flowActions',
  'folderId',
  'from',
  'identifier',
  'isEnvelope',
  'mimeType',
  'name',
  'newFolderName',
  'observers',
  'parentId',
  'prePositionedMarks',
  'reason',
  'role',
  'signature',
  'startDateUtc',
  'tags',
  'ticket',
  'to',
  'token',
  'url',
];

/** Pseudo-random numbers, the same in every run. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

test('malformed requests to every endpoint are refused with a code, and the service continues', async (t) => {
  const program = await startProgram(t);
  const { acme, monitor, administrator } = program;
  const flow = [{ type: 'Signer', user: { name: 'ann', email: 'ann@example.com' } }];
  const document = await acme.create(flow);
  const kept = await acme.create(flow);
  const clients: { readonly [auth: string]: Client } = { monitor, administrator };
  const random = numbers(20_261_121);
  const pick = <Item>(items: readonly Item[]): Item => items[random.next().value % items.length] as Item;
  const failures: string[] = [];
  for (const { method, path, auth, bodyPolicy } of portalTable()) {
    for (let round = 0; round < 6; round += 1) {
      const target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
        if (name === 'id' && path.startsWith('/api/documents') && round < 3) return document;
        return encodeURIComponent(pick(TEXTS).slice(0, 300));
      });
      const members = Array.from({ length: 12 }, () => [pick(NAMES), pick(VALUES)] as const);
      const hasBody = bodyPolicy !== 'none' && method !== 'GET';
      const query = `?Limit=${pick(['5', '', '0'])}&Q=${encodeURIComponent(pick(['%', '\u0000', LONG, 'a|b,']))}&ticket=${pick(['x', ''])}`;
      const answer = await (clients[auth] ?? acme).fetch(`${target}${query}`, {
        method,
        ...(hasBody && {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(Object.fromEntries(members)),
        }),
      });
      if (answer.status >= 500) {
        const sent = JSON.stringify(Object.fromEntries(members)).slice(0, 400);
        failures.push(`${method} ${target.slice(0, 120)} ${sent}: ${answer.status} ${await answer.text()}`);
      }
    }
  }
  t.deepEqual(failures, []);
  t.like(await acme.get(`/api/documents/${kept}`), { id: kept, status: 'Pending', filename: SAMPLE.name });
});

test('creations with unusual participants, marks, dates and names succeed or are refused with a code', async (t) => {
  const { acme } = await sharedProgram(t);
  const random = numbers(7);
  const pick = <Item>(items: readonly Item[]): Item => items[random.next().value % items.length] as Item;
  const upload = await acme.upload();
  const failures: string[] = [];
  for (let round = 0; round < 120; round += 1) {
    const person = {
      name: pick(VALUES),
      identifier: pick(VALUES),
      email: pick([...VALUES, 'a@example.com']),
    };
    const mark = {
      topLeftX: pick([-5, 0, 1e12, 10]),
      topLeftY: pick([0, 1e308, 5]),
      width: pick([0, -1, 50]),
      height: pick([20, 1e9]),
      pageNumber: pick([null, 0, -1, 1, 99]),
      uploadId: pick([null, upload.id, 'x']),
    };
    const body = {
      files: [{ ...upload, displayName: pick(['A', LONG, '\u0000', 'é/..\\', '\ud800']) }],
      flowActions: Array.from({ length: 1 + (round % 4) }, () => ({
        type: pick(['Signer', 'Approver', 'SignRule', 'ApproverRule', undefined]),
        step: pick([0, 1, -1, 2 ** 31, undefined]),
        user: pick([person, undefined]),
        signRuleUsers: pick([[person, person], [], undefined]),
        numberRequiredSignatures: pick([0, 1, 99, undefined]),
        prePositionedMarks: pick([[mark], undefined]),
        title: pick([undefined, LONG]),
      })),
      isEnvelope: pick([true, false, undefined]),
      envelopeName: pick(['E', undefined, '\u0000']),
      expirationDate: pick([undefined, '2000-01-01', '9999-12-31', '0000-01-01']),
      notifiedEmails: pick([undefined, ['x'], [LONG]]),
      tags: pick([undefined, [{ value: LONG }], [{ label: '\u0000', value: 'v' }]]),
      newFolderName: pick([undefined, LONG, '\u0000', 'F']),
      observers: pick([undefined, [{ user: person }]]),
    };
    const answer = await acme.send('/api/documents', body);
    if (answer.status >= 500) {
      failures.push(`${JSON.stringify(body).replaceAll(LONG, 'LONG').slice(0, 900)}: ${await answer.text()}`);
    }
  }
  t.deepEqual(failures, []);
});
