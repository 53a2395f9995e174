/**
 * Documents whose objects are out of the ordinary, for any of the file structures of `build.ts`.
 */
import { documentObjects, PAGE_NUMBER, stream } from './build.ts';

const with_ = (objects: Map<number, string>, more: readonly (readonly [number, string])[]) =>
  new Map([...objects, ...more]);

const inserted = (body: string | undefined, text: string): string =>
  (body ?? '').replace(/>>\s*$/, `${text} >>`);

/** A page tree so deep that no recursion survives it by chance. */
export function deepPageTree(levels: number): Map<number, string> {
  const objects = documentObjects();
  const first = 100;
  objects.set(2, `<< /Type /Pages /Count 1 /Kids [${first} 0 R] >>`);
  for (let level = 0; level < levels; level++) {
    const kid = level === levels - 1 ? PAGE_NUMBER : first + level + 1;
    const parent = level === 0 ? 2 : first + level - 1;
    objects.set(first + level, `<< /Type /Pages /Parent ${parent} 0 R /Count 1 /Kids [${kid} 0 R] >>`);
  }
  const page = objects.get(PAGE_NUMBER) ?? '';
  return objects.set(PAGE_NUMBER, page.replace('/Parent 2 0 R', `/Parent ${first + levels - 1} 0 R`));
}

/** Pages and nodes that don't say what they are, and counts that are wrong. */
export function carelessPageTree(): Map<number, string> {
  const objects = documentObjects({ pages: 3 });
  objects.set(2, (objects.get(2) ?? '').replace('/Type /Pages', '').replace('/Count 3', '/Count 3.0'));
  for (const number of [PAGE_NUMBER, PAGE_NUMBER + 2])
    objects.set(number, (objects.get(number) ?? '').replace('/Type /Page', ''));
  return objects;
}

export function wrongPageCount(): Map<number, string> {
  const objects = documentObjects({ pages: 2 });
  return objects.set(2, (objects.get(2) ?? '').replace('/Count 2', '/Count 7'));
}

/** Size, rotation and fonts come from the node above the page. */
export function inheritedResources(): Map<number, string> {
  const objects = documentObjects();
  const page = (objects.get(PAGE_NUMBER) ?? '')
    .replace('/MediaBox [0 0 200 200]', '')
    .replace(/\/Resources << .*? >> >>/, '');
  const above = '/MediaBox [0 0 200 200] /Rotate 90 /Resources << /Font << /F1 3 0 R >> >>';
  return with_(objects, [
    [2, inserted(objects.get(2), above)],
    [PAGE_NUMBER, page],
  ]);
}

export function attachments(): Map<number, string> {
  const objects = documentObjects({
    catalog: '/Names << /EmbeddedFiles << /Names [(notes.txt) 40 0 R] >> >> /AF [40 0 R]',
  });
  return with_(objects, [
    [40, '<< /Type /Filespec /F (notes.txt) /UF (notes.txt) /AFRelationship /Data /EF << /F 41 0 R >> >>'],
    [41, stream('/Type /EmbeddedFile /Subtype /text#2Fplain', 'Text that is in the file.')],
  ]);
}

/** Two layers, one of them hidden. */
export function layers(): Map<number, string> {
  const objects = documentObjects({
    catalog:
      '/OCProperties << /OCGs [40 0 R 41 0 R] /D << /Order [40 0 R 41 0 R] /ON [40 0 R] /OFF [41 0 R] >> >>',
  });
  const page = (objects.get(PAGE_NUMBER) ?? '').replace(
    '/Resources <<',
    '/Resources << /Properties << /L1 40 0 R /L2 41 0 R >>',
  );
  const text = (layer: string, y: number) =>
    `/OC /${layer} BDC BT /F1 12 Tf 20 ${y} Td (${layer}) Tj ET EMC\n`;
  return with_(objects, [
    [PAGE_NUMBER, page],
    [PAGE_NUMBER + 1, stream('', text('L1', 100) + text('L2', 50))],
    [40, '<< /Type /OCG /Name (Shown) >>'],
    [41, '<< /Type /OCG /Name (Hidden) >>'],
  ]);
}

/** Fields below fields, a check box, a choice, and a signature field that waits. */
export function richForm(): Map<number, string> {
  const objects = documentObjects();
  const widget = (kind: string, top: number) =>
    `/Type /Annot /Subtype /Widget ${kind} /Rect [20 ${top} 90 ${top + 12}] /F 4 /P ${PAGE_NUMBER} 0 R`;
  return with_(objects, [
    [
      1,
      inserted(
        objects.get(1),
        '/AcroForm << /Fields [40 0 R 44 0 R 45 0 R] /DA (/F1 0 Tf) /DR << /Font << /F1 3 0 R >> >> >>',
      ),
    ],
    [PAGE_NUMBER, inserted(objects.get(PAGE_NUMBER), '/Annots [42 0 R 43 0 R 44 0 R 45 0 R]')],
    [40, '<< /T (person) /Kids [41 0 R 43 0 R] >>'],
    [41, '<< /T (name) /FT /Tx /Parent 40 0 R /V (Ada) /Kids [42 0 R] >>'],
    [42, `<< ${widget('/Parent 41 0 R /DA (/F1 8 Tf)', 20)} >>`],
    [
      43,
      `<< ${widget('/T (adult) /FT /Btn /Parent 40 0 R /V /Yes /AS /Yes', 40)} /AP << /N << /Yes 46 0 R /Off 46 0 R >> >> >>`,
    ],
    [
      44,
      `<< ${widget('/T (colour) /FT /Ch /Ff 131072 /Opt [(red) (green)] /V (red) /DA (/F1 8 Tf)', 60)} >>`,
    ],
    [45, `<< ${widget('/T (approval) /FT /Sig', 80)} >>`],
    [46, stream('/Type /XObject /Subtype /Form /BBox [0 0 70 12] /Resources << >>', '0 0 5 5 re f')],
  ]);
}

/** An XFA form beside fields that show the same: the pages are real. */
export function fieldsBesideXfa(needsRendering = false): Map<number, string> {
  const objects = richForm();
  const catalog = (objects.get(1) ?? '').replace('/AcroForm <<', '/AcroForm << /XFA 47 0 R');
  return with_(objects, [
    [1, needsRendering ? inserted(catalog, '/NeedsRendering true') : catalog],
    [47, stream('', '<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"/>')],
  ]);
}

/** An XFA form whose only page says that another program is needed. */
export function xfaOnly(): Map<number, string> {
  const objects = documentObjects({ text: 'Please wait', catalog: '/AcroForm << /XFA 47 0 R /Fields [] >>' });
  return objects.set(47, stream('', '<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"/>'));
}

/** Text in XMP, which encryption may leave clear. */
export function describedDocument(): Map<number, string> {
  const objects = documentObjects({ annots: 'direct', form: 'indirect', catalog: '/Metadata 40 0 R' });
  objects.set(
    PAGE_NUMBER,
    inserted(objects.get(PAGE_NUMBER), '/PieceInfo << /Maker << /Private (kept \\(so\\)) >> >>'),
  );
  return objects.set(
    40,
    stream('/Type /Metadata /Subtype /XML', '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>'),
  );
}
