/** Marks and fields placed by tags in the text of a PDF, over HTTP. Source: docs/fields.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { type PortalProgram, sharedProgram, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { assertRefused } from '../../refused.ts';
import { ana, at, bob, type Detail, PAGE, pdf } from './tagged-files.ts';

const test = anyTest as TestFn<PortalProgram>;

const toolTest = withTools(test, 'pdfsig', 'pdftoppm', 'pdftotext');

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await sharedProgram(shared);
});

const TEXT = [
  at(40, 400, 'Signed: {{sig:buyer}}'),
  // Programs write a word in parts.
  `${at(40, 300, '{{te')} (xt*:ana sou) Tj [(za) -10 (:ci) 20 (ty}})] TJ`,
  at(250, 300, '{{date:bob@example.org:day:90x20}}'),
  at(250, 400, '{{Initials:BOB}} and {{checkbox:Bob:agreed}}'),
  at(40, 200, '{not a tag} {{}}'),
].join(' ');

toolTest.serial(
  'tags place marks and fields of the named people, and are invisible in the signed file',
  async (t) => {
    const { acme, service } = t.context;
    const id = await acme.create(
      [ana({ fields: [{ name: 'city', maxLength: 20 }] }), bob()],
      { textTags: true },
      pdf(TEXT),
    );
    const { flowActions } = await acme.get<Detail>(`/api/documents/${id}`);
    const [first, second] = flowActions;
    t.is(first?.marks.length, 1);
    const [signature] = first?.marks ?? [];
    t.like(signature, { type: 'SignatureVisualRepresentation', width: 160, height: 40, pageNumber: 1 });
    // Behind the text before it; on the lower edge of the line.
    t.true(Math.abs((signature?.topLeftX ?? 0) - 84) < 1, JSON.stringify(signature));
    t.true(Math.abs((signature?.topLeftY ?? 0) - (PAGE - 400 + 3 - 40)) < 2, JSON.stringify(signature));
    const [city] = first?.fields ?? [];
    t.like(city, { name: 'city', type: 'Text', required: true, maxLength: 20, height: 16 });
    t.true(Math.abs((city?.topLeftX ?? 0) - 40) < 1, JSON.stringify(city));
    t.like(second?.marks[0], { type: 'SignatureInitials', width: 60, height: 30 });
    t.deepEqual(
      second?.fields?.map(({ name, type, width, height }) => [name, type, width, height]),
      [
        ['day', 'Date', 90, 20],
        ['agreed', 'Checkbox', 16, 16],
      ],
    );

    const sign = async (index: number, fieldValues: object) =>
      acme.post(`/api/documents/${id}/electronic-signature`, {
        flowActionId: flowActions[index]?.id,
        fieldValues,
      });
    const lacking = { flowActionId: flowActions[0]?.id };
    await assertRefused(
      t,
      await acme.send(`/api/documents/${id}/electronic-signature`, lacking),
      'InvalidFieldValue',
    );
    await sign(0, { city: 'Braga' });
    await sign(1, { day: '2030-01-31', agreed: true });
    await until(
      async () => (await acme.get<Detail>(`/api/documents/${id}`)).status === 'Concluded' || undefined,
    );
    const answer = await acme.fetch(`/api/documents/${id}/content?type=Signatures`);
    const path = join(service.root, 'signed.pdf');
    writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
    const { stdout: verdicts } = await runTool('pdfsig', ['-nocert', path]);
    t.is(verdicts.split('Signature is Valid.').length - 1, 2, verdicts);
    const { stdout: text } = await runTool('pdftotext', ['-layout', path, '-']);
    for (const value of ['Braga', '2030-01-31', 'Ana Souza', 'Bob']) t.true(text.includes(value), text);
    // The word before the tag is drawn; where the tag is and nothing stands in its place, the page is white.
    const ink = async (x: number, y: number, width: number, height: number) => {
      const area = ['-x', x, '-y', y, '-W', width, '-H', height].map(String);
      await runTool('pdftoppm', ['-r', '72', '-gray', '-singlefile', ...area, path, `${path}.area`]);
      return readFileSync(`${path}.area.pgm`)
        .subarray(-width * height)
        .some((grey) => grey < 200);
    };
    t.true(await ink(40, PAGE - 412, 38, 14));
    // Behind the initials, which are narrower than the tag.
    t.false(await ink(312, PAGE - 412, 15, 14));
    t.true((await ink(200, PAGE - 212, 100, 14)) === false);
  },
);

test.serial('tags on a rotated page get their visible positions', async (t) => {
  const { acme } = t.context;
  const file = pdf('0 1 -1 0 100 60 Tm ({{sig:bob}}) Tj', '/Rotate 90');
  const id = await acme.create([bob()], { textTags: true }, file);
  const [action] = (await acme.get<Detail>(`/api/documents/${id}`)).flowActions;
  const [mark] = action?.marks ?? [];
  t.true(Math.abs((mark?.topLeftX ?? 0) - 60) < 1, JSON.stringify(mark));
  t.true(Math.abs((mark?.topLeftY ?? 0) - (100 + 3 - 40)) < 2, JSON.stringify(mark));
});

test.serial('an invalid tag refuses the document and is named', async (t) => {
  const { acme } = t.context;
  const attempt = async (text: string, actions: readonly object[] = [ana(), bob()], more: object = {}) => {
    const upload = await acme.upload(pdf(at(20, 300, text)));
    const files = [{ ...upload, displayName: 'A' }];
    return acme.send('/api/documents', { files, flowActions: actions, textTags: true, ...more });
  };
  const wrong: readonly (readonly [string, string, (readonly object[])?])[] = [
    ['{{sig:nobody}}', 'No flow action'],
    ['{{sign:bob}}', 'The type is one of'],
    ['{{sig}}', 'A tag is'],
    ['{{text:bob}}', 'A field needs a name'],
    ['{{sig:bob:name}}', 'A signature has no name'],
    ['{{text:bob:a}} {{date:bob:a}}', 'Another tag'],
    ['{{sig:bob}}', 'Several', [bob(), bob()]],
    ['{{sig:bob}}', 'approves', [{ ...bob(), type: 'Approver' }]],
    ['{{text:bob:a}}', 'Only an action', [{ ...bob(), type: 'Approver' }]],
  ];
  for (const [text, fault, actions] of wrong) {
    const details = await assertRefused(t, await attempt(text, actions), 'InvalidTextTag');
    t.true(JSON.stringify(details).includes(fault), `${text}: ${JSON.stringify(details)}`);
  }
  const unplaced = await attempt('Hello', [ana({ fields: [{ name: 'city' }] })]);
  await assertRefused(t, unplaced, 'InvalidTextTag');
  const many = Array.from({ length: 501 }, (_, index) =>
    at(10 + (index % 50) * 9, 10 + Math.floor(index / 50) * 9, '{{sig:bob}}'),
  );
  await assertRefused(t, await attempt(`) Tj /F1 1 Tf ${many.join(' ')} (`), 'LimitExceeded');
  // Tags in letters without extent place nothing, and count.
  await assertRefused(t, await attempt(`) Tj 0 Tz ${many.join(' ')} (`), 'LimitExceeded');
  // Without the option, tags are text.
  const made = await attempt('{{sig:nobody}}', undefined, { textTags: false });
  t.is(made.status, 200);
});
