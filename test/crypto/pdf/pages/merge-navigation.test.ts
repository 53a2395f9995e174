import ava from 'ava';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { inspect, type QpdfDict, type QpdfDocument, type QpdfValue } from '../../pades/inspect.ts';
import { classicPdf, documentObjects, streamPdf } from '../build.ts';
import * as shapes from '../shapes.ts';
import { complaints, compose, put } from './pages-harness.ts';

const test = withTools(ava, 'qpdf');

/** Pages 10 and 12; a link by name, one by itself, one to the web, and an outline of two levels. */
function linked(name: string): Buffer {
  const objects = documentObjects({
    pages: 2,
    text: name,
    catalog: `/Outlines 60 0 R /Names << /Dests 70 0 R >> /Dests << /old [10 0 R /Fit] >> /PageLabels << /Nums [0 << /S /r >> 1 << /S /D /St 7 >>] >>`,
  });
  const page = objects.get(10) ?? '';
  objects.set(10, page.replace('/Contents', '/Annots [50 0 R 51 0 R 52 0 R 53 0 R] /Contents'));
  const link = (rest: string) => `<< /Type /Annot /Subtype /Link /Rect [1 1 9 9] /P 10 0 R ${rest} >>`;
  objects.set(50, link('/Dest (second)'));
  objects.set(51, link('/A << /S /GoTo /D /old >>'));
  objects.set(52, link(`/A << /S /URI /URI (https://example.test/${name}) >>`));
  objects.set(53, link('/Dest [12 0 R /XYZ 5 6 null]'));
  objects.set(60, '<< /Type /Outlines /First 61 0 R /Last 62 0 R /Count 3 >>');
  objects.set(
    61,
    `<< /Title (${name} one) /Parent 60 0 R /Next 62 0 R /First 63 0 R /Last 63 0 R /Count 1 /Dest (second) >>`,
  );
  objects.set(
    62,
    `<< /Title (${name} two) /Parent 60 0 R /Prev 61 0 R /A << /S /GoTo /D [10 0 R /Fit] >> >>`,
  );
  objects.set(63, `<< /Title (${name} below) /Parent 61 0 R /Dest [12 0 R /Fit] >>`);
  objects.set(70, '<< /Kids [71 0 R] >>');
  objects.set(71, '<< /Limits [(second) (second)] /Names [(second) << /D [12 0 R /FitH 50] >>] >>');
  return classicPdf(objects);
}

const annotationsOf = (pdf: QpdfDocument, page: QpdfValue): readonly QpdfDict[] =>
  pdf.array(pdf.dict(page)['/Annots']).map((one) => pdf.dict(one));

test('links inside a file lead to its own pages, also when other files use the same names', async (t) => {
  const { path } = compose([{ path: put(linked('A')) }, { path: put(linked('B')) }]);
  const pdf = await inspect(path);
  for (const first of [0, 2]) {
    const [byName, byOldName, web, byItself] = annotationsOf(pdf, pdf.pages[first]);
    t.deepEqual(pdf.array(byName?.['/Dest']), [pdf.pages[first + 1], '/FitH', 50]);
    t.deepEqual(pdf.dict(byOldName?.['/A'])['/D'], [pdf.pages[first], '/Fit']);
    t.is(pdf.dict(web?.['/A'])['/URI'], `u:https://example.test/${first === 0 ? 'A' : 'B'}`);
    t.deepEqual(byItself?.['/Dest'], [pdf.pages[first + 1], '/XYZ', 5, 6, null]);
    t.is(byName?.['/P'], pdf.pages[first]);
  }
});

test('a link to a missing page is removed, and includes no old page', async (t) => {
  const objects = documentObjects({ pages: 1, annots: 'indirect' });
  objects.set(8, '<< /Type /Annot /Subtype /Link /Rect [1 1 9 9] /Dest [90 0 R /Fit] /Hidden 91 0 R >>');
  objects.set(90, '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>');
  objects.set(91, '<< /Type /Catalog /Pages 2 0 R >>');
  const { path } = compose([{ path: put(classicPdf(objects)) }]);
  const pdf = await inspect(path);
  const [link] = annotationsOf(pdf, pdf.pages[0]);
  t.is(link?.['/Dest'] ?? null, null);
  t.is(link?.['/Hidden'] ?? null, null);
  const { stdout } = await runTool('qpdf', ['--qdf', '--object-streams=disable', path, '-']);
  t.is(stdout.match(/\/Type \/Page\b(?!s)/g)?.length, 1);
  t.is(stdout.match(/\/Type \/Catalog/g)?.length, 1);
});

interface Entry {
  readonly title: string;
  readonly page: number;
  readonly kids: readonly Entry[];
}

async function outline(path: string): Promise<readonly Entry[]> {
  const { stdout } = await runTool('qpdf', ['--json=2', '--json-key=outlines', path]);
  const entries = (list: readonly QpdfDict[]): readonly Entry[] =>
    list.map((one) => ({
      title: String(one['title']),
      page: Number(one['destpageposfrom1']),
      kids: entries(one['kids'] as readonly QpdfDict[]),
    }));
  return entries((JSON.parse(stdout) as { readonly outlines: readonly QpdfDict[] }).outlines);
}

test('an envelope has a bookmark for each file, with the bookmarks of the file below it', async (t) => {
  const plain = put(classicPdf(documentObjects()));
  const { path } = compose([
    { path: put(linked('A')), outline: 'First — contract' },
    { path: plain, outline: 'Second (plain)' },
    { path: put(linked('C')), outline: 'Third' },
  ]);
  const own = (name: string, first: number): readonly Entry[] => [
    { title: `${name} one`, page: first + 1, kids: [{ title: `${name} below`, page: first + 1, kids: [] }] },
    { title: `${name} two`, page: first, kids: [] },
  ];
  t.deepEqual(await outline(path), [
    { title: 'First — contract', page: 1, kids: own('A', 1) },
    { title: 'Second (plain)', page: 3, kids: [] },
    { title: 'Third', page: 4, kids: own('C', 4) },
  ]);
  t.is(await complaints(path), '');
});

test('a circular outline is cut', async (t) => {
  const circle = linked('A').toString('latin1').replace('/Next 62 0 R', '/Next 61 0 R');
  const { path } = compose([{ path: put(Buffer.from(circle, 'latin1')), outline: 'Whole' }]);
  const [whole] = await outline(path);
  t.is(whole?.kids.length, 1);
});

test('pages keep the labels of their file, and others are numbered consecutively', async (t) => {
  const plain = put(classicPdf(documentObjects({ pages: 2 })));
  const { path } = compose([{ path: plain }, { path: put(linked('B')) }]);
  const { stdout } = await runTool('qpdf', ['--json=2', '--json-key=pagelabels', path]);
  const { pagelabels } = JSON.parse(stdout) as {
    readonly pagelabels: readonly { index: number; label: QpdfDict }[];
  };
  const rules = pagelabels.map(({ index, label }) => [index, label['/S'], label['/St'] ?? 1]);
  t.deepEqual(rules, [
    [0, '/D', 1],
    [2, '/r', 1],
    [3, '/D', 7],
  ]);
  const none = await inspect(compose([{ path: plain }]).path);
  t.is(none.catalog['/PageLabels'], undefined);
});

test('all embedded files are kept, and duplicate names get distinct ones', async (t) => {
  const file = put(streamPdf(shapes.attachments()));
  const list = async (path: string) =>
    (await runTool('qpdf', ['--list-attachments', path])).stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' -> ')[0] ?? '');
  const before = await list(file);
  const { path } = compose([{ path: file }, { path: file }]);
  const after = await list(path);
  t.true(before.length > 0);
  t.is(after.length, 2 * before.length);
  for (const name of before) {
    t.true(after.includes(name) && after.includes(`${name} (2)`), after.join());
    const shown = (of: string, key: string) => runTool('qpdf', [`--show-attachment=${key}`, of]);
    const one = await shown(file, name);
    const other = await shown(path, `${name} (2)`);
    t.is(one.exit, 0);
    t.is(other.stdout, one.stdout);
  }
});

test('layers that are hidden in a file stay hidden in the envelope', async (t) => {
  const layers = (state: string) =>
    put(
      classicPdf(
        documentObjects({
          catalog: `/OCProperties << /OCGs [80 0 R 81 0 R] /D << ${state} /Order [80 0 R 81 0 R] >> >>`,
        })
          .set(80, '<< /Type /OCG /Name (one) >>')
          .set(81, '<< /Type /OCG /Name (two) >>'),
      ),
    );
  const { path } = compose([
    { path: layers('/OFF [81 0 R]') },
    { path: layers('/BaseState /OFF /ON [80 0 R]') },
  ]);
  const pdf = await inspect(path);
  const properties = pdf.dict(pdf.catalog['/OCProperties']);
  t.is(pdf.array(properties['/OCGs']).length, 4);
  const hidden = pdf.array(pdf.dict(properties['/D'])['/OFF']).map((one) => pdf.dict(one)['/Name']);
  t.deepEqual(hidden, ['u:two', 'u:two']);
});
