/** Tags in the text of new versions, over HTTP. Source: docs/decisions/0117-tags-in-the-text.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import {
  type Client,
  type PortalProgram,
  sharedProgram,
  startProgram,
  until,
} from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { assertRefused } from '../../refused.ts';
import { ana, at, bob, type Detail, PAGE, pdf } from './tagged-files.ts';

const test = anyTest as TestFn<PortalProgram>;

const toolTest = withTools(test, 'pdfsig', 'pdftotext');

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await sharedProgram(shared);
});

interface Versioned extends Detail {
  readonly file: { readonly name: string };
}

const FIRST = [at(40, 400, '{{sig:buyer}}'), at(40, 300, '{{text*:buyer:city}} {{number:bob:rent}}')].join(
  ' ',
);
const SECOND = [
  at(40, 200, '{{sig:buyer}} {{sig:bob}}'),
  at(40, 100, '{{text:buyer:city}}'),
  at(250, 100, '{{date:bob:day}}'),
].join(' ');
const LISTED = [
  { name: 'city', type: 'Text', maxLength: 20, value: 'Braga' },
  { name: 'age', type: 'Number', topLeftX: 10, topLeftY: 10, width: 50, height: 16 },
];
const MARK = { type: 'SignatureVisualRepresentation', topLeftX: 5, topLeftY: 6, width: 70, height: 30 };

async function version(client: Client, id: string, text: string, more: object = {}): Promise<Response> {
  const upload = await client.upload(pdf(text));
  const body = { file: { ...upload, displayName: 'Second' }, ...more };
  return client.send(`/api/documents/${id}/versions`, body);
}

const read = (client: Client, id: string) => client.get<Versioned>(`/api/documents/${id}`);

/** Marks and fields of each action: kinds and names, with the upper edge in PDF coordinates rounded to lines. */
function contentOf({ flowActions }: Versioned) {
  return flowActions.map(({ marks, fields = [] }) => ({
    marks: marks.map(({ type, topLeftY }) => `${type} ${topLeftY}`),
    fields: fields.map(({ name }) => name),
  }));
}

/** Creates a document with tags, a listed field, and a mark and a field by coordinates. */
const create = (client: Client, more: object = {}) =>
  client.create(
    [ana({ fields: LISTED, prePositionedMarks: [MARK] }), bob()],
    { textTags: true, ...more },
    pdf(FIRST),
  );

toolTest.serial('tags of a new version replace those before, for all who sign it', async (t) => {
  const { acme, service } = t.context;
  const id = await create(acme);
  const before = await read(acme, id);
  t.deepEqual(
    before.flowActions.map(({ fields }) => fields?.map(({ name }) => name)),
    [['age', 'city'], ['rent']],
  );
  // Ana has signed the first version.
  await acme.post(`/api/documents/${id}/electronic-signature`, {
    flowActionId: before.flowActions[0]?.id,
    fieldValues: { city: 'Porto' },
  });

  t.is((await version(acme, id, SECOND, { textTags: true })).status, 200);
  const after = await read(acme, id);
  t.is(after.status, 'Pending');
  const [first, second] = after.flowActions;
  t.deepEqual(
    first?.marks.map(({ topLeftX, width }) => [Math.round(topLeftX), width]),
    [
      [5, 70],
      [40, 160],
    ],
  );
  t.is(second?.marks.length, 1);
  const [age, city, ...others] = first?.fields ?? [];
  t.deepEqual(others, []);
  t.like(age, { name: 'age', topLeftY: 10 });
  // The rules of the request stay; the star was that of the tag.
  t.like(city, { name: 'city', maxLength: 20, required: false, presetValue: 'Braga', value: null });
  t.true(Math.abs((city?.topLeftY ?? 0) - (PAGE - 100 + 3 - 16)) < 2, JSON.stringify(city));
  t.deepEqual(
    second?.fields?.map(({ name, type }) => [name, type]),
    [['day', 'Date']],
  );

  const sign = (index: number, fieldValues: object) =>
    acme.post(`/api/documents/${id}/electronic-signature`, {
      flowActionId: after.flowActions[index]?.id,
      fieldValues,
    });
  await sign(0, { city: 'Lisboa', age: 30 });
  await sign(1, { day: '2030-01-31' });
  await until(async () => (await read(acme, id)).status === 'Concluded' || undefined);
  const answer = await acme.fetch(`/api/documents/${id}/content?type=Signatures`);
  const path = join(service.root, 'versioned.pdf');
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
  const { stdout: verdicts } = await runTool('pdfsig', ['-nocert', path]);
  t.is(verdicts.split('Signature is Valid.').length - 1, 2, verdicts);
  const { stdout: text } = await runTool('pdftotext', ['-layout', path, '-']);
  for (const value of ['Lisboa', '30', '2030-01-31', 'Bob']) t.true(text.includes(value), text);
  t.false(text.includes('Porto'), text);
});

test.serial(
  'a new version without the option keeps all places, and a later one can replace them',
  async (t) => {
    const { acme } = t.context;
    const id = await create(acme);
    const before = contentOf(await read(acme, id));
    t.is((await version(acme, id, SECOND)).status, 200);
    t.deepEqual(contentOf(await read(acme, id)), before);
    // Of the version with the option, marks given in the request replace those by coordinates only.
    const [buyer] = (await read(acme, id)).flowActions;
    const prePositionedMarks = [
      { flowActionId: buyer?.id, prePositionedDocumentMarks: [{ ...MARK, topLeftX: 9, width: 80 }] },
    ];
    t.is((await version(acme, id, SECOND, { textTags: true, prePositionedMarks })).status, 200);
    const [first, second] = (await read(acme, id)).flowActions;
    t.deepEqual(
      first?.marks.map(({ topLeftX, width }) => [Math.round(topLeftX), width]),
      [
        [9, 80],
        [40, 160],
      ],
    );
    t.deepEqual(
      second?.fields?.map(({ name }) => name),
      ['day'],
    );
    // A file without tags has nothing of tags.
    const bare = await acme.create([bob()], { textTags: true }, pdf(at(40, 300, '{{sig:bob}}')));
    t.is((await version(acme, bare, at(40, 300, 'Text'), { textTags: true })).status, 200);
    t.deepEqual(contentOf(await read(acme, bare)), [{ marks: [], fields: [] }]);
  },
);

test.serial('tags that cannot be used refuse the new version as they refuse a document', async (t) => {
  const { acme } = t.context;
  const id = await create(acme);
  const before = await read(acme, id);
  const refused = async (text: string) => {
    const upload = await acme.upload(pdf(text));
    const creation = await acme.send('/api/documents', {
      files: [{ ...upload, displayName: 'A' }],
      flowActions: [ana({ fields: LISTED }), bob()],
      textTags: true,
    });
    const ofCreation = await assertRefused(t, creation, 'InvalidTextTag');
    const ofVersion = await assertRefused(
      t,
      await version(acme, id, text, { textTags: true }),
      'InvalidTextTag',
    );
    t.deepEqual(ofVersion, ofCreation, text);
  };
  await refused(at(20, 300, '{{sig:nobody}} {{text:buyer:city}}'));
  await refused(at(20, 300, '{{sign:bob}} {{text:bob:a}} {{date:bob:a}}'));
  await refused(at(20, 300, '{{date:buyer:city}}'));
  // The listed field has no tag.
  await refused(at(20, 300, '{{sig:bob}}'));
  // A field by coordinates has this name.
  const taken = await version(acme, id, at(20, 300, '{{text:buyer:city}} {{text:bob:age}}'), {
    textTags: true,
  });
  await assertRefused(t, taken, 'InvalidFlowAction');
  t.deepEqual(await read(acme, id), before);
});

test.serial(
  'tags of an envelope’s new version name its flow, and a template of it has no trace of tags',
  async (t) => {
    const { acme } = t.context;
    const entry = async (text: string) => ({ ...(await acme.upload(pdf(text))), displayName: 'Part' });
    const [made] = await acme.post<{ documentId: string }[]>('/api/documents', {
      files: [await entry(at(40, 400, '{{sig:bob}}'))],
      flowActions: [bob()],
      isEnvelope: true,
      envelopeName: 'Both',
      textTags: true,
    });
    const id = made?.documentId ?? '';
    const files = [
      await entry(at(40, 400, 'One')),
      await entry(at(40, 300, '{{text:bob:place}} {{sig:bob}}')),
    ];
    await acme.post(`/api/documents/${id}/envelope/versions`, { files, textTags: true });
    const [action] = (await read(acme, id)).flowActions;
    t.deepEqual(
      action?.marks.map(({ pageNumber }) => pageNumber),
      [2],
    );
    t.deepEqual(
      action?.fields?.map(({ name, pageNumber }) => [name, pageNumber]),
      [['place', 2]],
    );
    const template = await acme.post<{ id: string }>('/api/templates/from-document', {
      name: 'Tagged',
      documentId: id,
    });
    const kept = JSON.stringify(await acme.get(`/api/templates/${template.id}`));
    t.true(kept.includes('"place"'), kept);
    t.false(kept.includes('agged":'), kept);
  },
);

for (const [point, isKept] of [
  ['step.computed.before-commit/document', false],
  ['step.committed.before-reply/document', true],
] as const)
  test.serial(`a kill at ${point} keeps the old version or the whole new one`, async (t) => {
    const root = await temporaryRoot(t);
    // The first step is that of the creation; without mails, none tells that one was sent.
    const first = await startProgram(t, { root, faults: `${point}=kill:2` });
    const id = await create(first.acme, { disableNotifications: true });
    const before = await read(first.acme, id);
    const upload = await first.acme.upload(pdf(SECOND));
    const body = { file: { ...upload, displayName: 'Second' }, textTags: true };
    await t.throwsAsync(first.acme.send(`/api/documents/${id}/versions`, body));
    t.is(await first.service.ended, 'SIGKILL');

    const { acme } = await startProgram(t, { root });
    const names = ({ flowActions }: Versioned) =>
      flowActions.map(({ fields }) => fields?.map(({ name }) => name));
    if (!isKept) {
      t.deepEqual(contentOf(await read(acme, id)), contentOf(before));
      await acme.post(`/api/documents/${id}/versions`, body);
    }
    const after = await read(acme, id);
    t.deepEqual(names(after), [['age', 'city'], ['day']]);
    t.deepEqual(
      after.flowActions.map(({ marks }) => marks.length),
      [2, 1],
    );
    const { items } = await acme.get<{ items: { type: string }[] }>(`/api/documents/${id}/history?limit=100`);
    t.is(items.filter(({ type }) => type === 'Edited').length, 1);
  });
