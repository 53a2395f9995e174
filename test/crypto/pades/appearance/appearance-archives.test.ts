import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects, stream } from '../../pdf/build.ts';
import { cook } from '../../pdf/corpus.ts';
import { ARCHIVE_PARTS, ARCHIVES } from '../../pdf/corpus-documents.ts';
import { representative } from '../corpus/corpus-verdicts.ts';
import { inspect, type QpdfDict, type QpdfDocument } from '../inspect.ts';
import { accepted, put, sign } from '../validation/verdicts.ts';
import { JPEGS } from './appearance-jpegs.ts';
import { difference, isNear, picture, png, refusalOf, signVisibly } from './appearance-pictures.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl', 'pdftoppm'] as const;

const toolTest = withTools(test, 'qpdf', ...TOOLS);
const RECTANGLE = { left: 20, bottom: 20, width: 164, height: 44 };
/** Half transparent blue. */
const GLASS = png({ width: 8, height: 8, type: 6, bits: 8, pixel: () => [0, 0, 255, 128] });
const VISIBLE = { page: 1, rectangle: RECTANGLE, lines: ['Unterschrift: Ελένη'], image: GLASS };

/** Returns the appearance of the newest field. */
function shown(file: QpdfDocument): {
  readonly widget: QpdfDict;
  readonly form: QpdfDict;
  readonly image: QpdfDict;
  readonly font: QpdfDict;
} {
  const widget = file.dict(file.fields.at(-1)?.object);
  const form = file.dict(file.dict(widget['/AP'])['/N']);
  const resources = file.dict(form['/Resources']);
  return {
    widget,
    form,
    image: file.dict(file.dict(resources['/XObject'])['/Im']),
    font: file.dict(file.dict(resources['/Font'])['/F']),
  };
}

/** Clauses of ISO 19005-1, then of parts 2 and 3. */
function assertArchivable(t: ExecutionContext, file: QpdfDocument, part: number, hasIntent: boolean): void {
  const { widget, form, image, font } = shown(file);
  // 6.5.3 (6.3.2 and 6.3.3)
  t.is(Number(widget['/F']) & (1 | 2 | 4 | 32 | 256), 4);
  t.deepEqual(Object.keys(file.dict(widget['/AP'])), ['/N']);
  // 6.2.5 and 6.4 (6.2.9 and 6.2.10)
  for (const key of ['/Group', '/PS', '/OPI', '/Ref', '/Subtype2']) t.false(key in form, key);
  for (const key of ['/Alternates', '/OPI', '/Interpolate']) t.false(key in image, key);
  t.is('/SMask' in image, part > 1 && hasIntent);
  // 6.2.3 (6.2.4): no colour depends on the device.
  t.is(file.array(image['/ColorSpace'])[0], '/CalRGB');
  const colours = file.dict(file.dict(form['/Resources'])['/ColorSpace']);
  t.is(file.array(colours['/Ink'])[0], '/CalGray');
  const content = file.stream(file.dict(widget['/AP'])['/N']).toString('latin1');
  t.regex(content, /\/Ink cs 0 sc/);
  t.notRegex(content, /(^|\s)(g|rg|k|G|RG|K)\s/);
  // 6.1.6: an even number of hexadecimal digits.
  for (const [, digits = ''] of content.matchAll(/<([0-9a-f]*)>/g)) t.is(digits.length % 4, 0);
  // 6.3 (6.2.11): everything embedded, subsets complete, no glyph for what is missing, a way back to text.
  const inner = file.dict(file.array(font['/DescendantFonts'])[0]);
  const descriptor = file.dict(inner['/FontDescriptor']);
  t.is(font['/Encoding'], '/Identity-H');
  t.is(inner['/CIDToGIDMap'], '/Identity');
  t.false(/<([0-9a-f]{4})*?0000/.test(content));
  t.truthy(font['/ToUnicode']);
  const outlines = file.stream(descriptor['/FontFile2']);
  t.is(outlines.readUInt32BE(0), 0x00010000);
  t.is(outlines.length, Number(file.dict(descriptor['/FontFile2'])['/Length1']));
  const tables = tablesOf(outlines);
  const glyphs = tables.get('maxp')?.readUInt16BE(4) ?? 0;
  const units = tables.get('head')?.readUInt16BE(18) ?? 1;
  const widths = file.array(file.array(inner['/W'])[1]).map(Number);
  for (const [index, width] of widths.entries()) {
    const advance = tables.get('hmtx')?.readUInt16BE(4 * index) ?? 0;
    t.true(Math.abs(width - (1000 * advance) / units) < 0.001);
  }
  t.is('/CIDSet' in descriptor, part === 1);
  if (part === 1) {
    const bits = [...file.stream(descriptor['/CIDSet'])]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('');
    t.is(bits, '1'.repeat(glyphs).padEnd(8 * Math.ceil(glyphs / 8), '0'));
  }
}

function tablesOf(font: Buffer): ReadonlyMap<string, Buffer> {
  const rows = Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index);
  return new Map(
    rows.map((row) => {
      const start = font.readUInt32BE(row + 8);
      return [
        font.toString('latin1', row, row + 4),
        font.subarray(start, start + font.readUInt32BE(row + 12)),
      ];
    }),
  );
}

const TRIED = representative(ARCHIVES);

for (const { part, recipe } of ARCHIVE_PARTS.filter((one) => one.part < 3 && TRIED.includes(one.recipe))) {
  withTools(
    test,
    ...TOOLS,
    ...(recipe.tools ?? []),
  )(`a PDF ${recipe.name} conforms to ISO 19005 with a visible signature`, async (t) => {
    const { bytes } = await cook(recipe);
    const signed = signVisibly(put(bytes), VISIBLE);
    const file = await inspect(signed.output);
    t.truthy(file.catalog['/OutputIntents']);
    assertArchivable(t, file, part, true);
    await accepted(t, signed);
  });
}

/** A document that says it is PDF/A without naming the colours it is meant for. */
function archive(metadata: string | Buffer): string {
  const objects = documentObjects({ catalog: '/Metadata 30 0 R' });
  objects.set(30, stream('/Type /Metadata /Subtype /XML', metadata.toString('latin1')));
  return put(classicPdf(objects));
}

toolTest('PDF/A is recognized by its metadata in any spelling', async (t) => {
  const said = ['<pdfaid:part>2</pdfaid:part>', "<x pdfaid:part = '2'/>", '<x pdfaid:part="2"/>'];
  for (const text of [...said, Buffer.from(`\ufeff${said[0]}`, 'utf16le')]) {
    assertArchivable(t, await inspect(signVisibly(archive(text), VISIBLE).output), 2, false);
  }
  for (const text of ['', '<x pdfaid:part="x"/>', '<pdfx:part>1</pdfx:part>']) {
    const { image } = shown(await inspect(signVisibly(archive(text), VISIBLE).output));
    t.is(image['/ColorSpace'], '/DeviceRGB');
    t.true('/SMask' in image);
  }
});

toolTest('unreadable metadata does not refuse a file', async (t) => {
  const objects = documentObjects({ catalog: '/Metadata 30 0 R' });
  objects.set(30, stream('/Type /Metadata /Filter /DCTDecode', 'nothing'));
  const { image } = shown(await inspect(signVisibly(put(classicPdf(objects)), VISIBLE).output));
  t.true('/SMask' in image);
});

toolTest('an image has a white background in a file that forbids transparency', async (t) => {
  const signed = signVisibly(archive('<x pdfaid:part="1"/>'), VISIBLE);
  const after = await picture('mutool', signed.output);
  t.true(isNear(after.at(42, 42), [127, 127, 255], 12), String(after.at(42, 42)));
  await accepted(t, signed);
});

test('a CMYK image is refused in PDF/A', (t) => {
  const cmyk = { page: 1, rectangle: RECTANGLE, image: JPEGS.cmyk };
  t.regex(refusalOf(archive('<x pdfaid:part="3"/>'), cmyk), /^request\.invalid: .*printing colours/);
  t.is(refusalOf(archive(''), cmyk), '');
});

/** A tagged document; `kids` of its structure, and the tree that finds elements by number. */
function tagged(kids: string, parents: string, more: { readonly [number: number]: string } = {}): string {
  const objects = documentObjects({
    catalog: '/MarkInfo << /Marked true >> /StructTreeRoot 30 0 R /Lang (en)',
  });
  objects.set(30, `<< /Type /StructTreeRoot ${kids} ${parents} >>`);
  objects.set(31, '<< /Type /StructElem /S /Document /P 30 0 R /K [32 0 R] >>');
  objects.set(32, '<< /Type /StructElem /S /P /P 31 0 R /Pg 10 0 R /K 0 >>');
  for (const [number, body] of Object.entries(more)) objects.set(Number(number), body);
  return put(classicPdf(objects));
}

/** Numbers and elements of a number tree, in their order. */
function numbersOf(file: QpdfDocument, node: QpdfDict): readonly (readonly [number, unknown])[] {
  if ('/Kids' in node) return file.array(node['/Kids']).flatMap((kid) => numbersOf(file, file.dict(kid)));
  const all = file.array(node['/Nums']);
  return all.flatMap((key, index) => (index % 2 === 0 ? [[Number(key), all[index + 1]] as const] : []));
}

toolTest('a signature in a tagged PDF has a structure element and an alternate description', async (t) => {
  const inTree = { 33: '<< /Limits [0 4] /Nums [0 [32 0 R] 4 32 0 R] >>' };
  const files = {
    'with a list': tagged('/K [31 0 R]', '/ParentTree << /Nums [0 [32 0 R]] >> /ParentTreeNextKey 1'),
    'with one element': tagged('/K 31 0 R', '/ParentTree 34 0 R', {
      34: '<< /Nums [0 [32 0 R] 4 32 0 R] >>',
    }),
    'with a tree': tagged('/K 31 0 R', '/ParentTree << /Kids [33 0 R] >> /ParentTreeNextKey 2', inTree),
    'without elements': tagged('', ''),
    'with many on top': tagged('/K [32 0 R 32 0 R]', '/ParentTree << /Nums [] >>'),
    'whose document has one kid': tagged('/K 31 0 R', '', {
      31: '<< /Type /StructElem /S /Document /P 30 0 R /K 32 0 R >>',
    }),
  };
  for (const [name, input] of Object.entries(files)) {
    const signed = signVisibly(input, VISIBLE);
    const file = await inspect(signed.output);
    const { widget } = shown(file);
    t.is(widget['/TU'], 'u:Unterschrift: Ελένη', name);
    const root = file.dict(file.catalog['/StructTreeRoot']);
    const numbers = numbersOf(file, file.dict(root['/ParentTree']));
    const keys = numbers.map(([key]) => key);
    t.deepEqual(
      keys,
      [...keys].sort((one, other) => one - other),
      name,
    );
    t.is(new Set(keys).size, keys.length, name);
    t.is(root['/ParentTreeNextKey'], (keys.at(-1) ?? 0) + 1, name);
    const [key, reference] = numbers.at(-1) ?? [];
    t.is(widget['/StructParent'], key, name);
    const element = file.dict(reference);
    t.is(element['/S'], '/Form');
    const target = file.dict(element['/K']);
    t.is(target['/Type'], '/OBJR');
    t.is(target['/Obj'], file.fields[0]?.object);
    const kids = file.array(file.dict(element['/P'])['/K']);
    t.is(kids.at(-1), reference, name);
    t.is(kids.includes('32 0 R'), name !== 'without elements', name);
    t.is(file.dict(widget['/P'])['/Tabs'], '/S');
    await accepted(t, signed);
  }
});

toolTest('the structure of a tagged PDF stays unchanged after the first signature', async (t) => {
  const once = sign(tagged('/K 31 0 R', '/ParentTree << /Nums [0 [32 0 R]] >>'));
  const twice = signVisibly(once.output, VISIBLE);
  const added = readFileSync(twice.output, 'latin1').slice(readFileSync(once.output).length);
  t.false(/\n30 0 obj|\n31 0 obj|StructParent/.test(added));
  t.true(added.includes('/TU'));
});

toolTest('a tagged PDF is rendered unchanged, apart from the signature', async (t) => {
  const signed = signVisibly(tagged('/K 31 0 R', ''), { ...VISIBLE, lines: [] });
  t.is(shown(await inspect(signed.output)).widget['/TU'], 'u:Signature');
  const before = await picture('pdftoppm', signed.input);
  const after = await picture('pdftoppm', signed.output);
  const [left = 0, bottom = 0, right = 0, top = 0] = difference(before, after) ?? [];
  t.true(left >= 20 && bottom >= 20 && right <= 184 && top <= 64);
});
