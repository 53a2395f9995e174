/** A file to try with: of the command `try`, and of an administrator's first document. */

/** Text of the page: font size and line. ASCII without parentheses and backslashes, so that it needs no escapes. */
const LINES: readonly (readonly [size: number, text: string])[] = [
  [22, 'Sample contract'],
  [12, 'This contract is a sample. It binds nobody.'],
  [12, '1. The signer has seen how a document is signed here.'],
  [12, '2. The signature below covers each byte of this file.'],
  [12, '3. A change of the file makes the signature invalid.'],
];
const TOP = 760;
const LINE_HEIGHT = 30;

/** A free place for a signature, points from the top left corner. */
export const SAMPLE_MARK = { pageNumber: 1, topLeftX: 60, topLeftY: 260, width: 200, height: 70 };

/** A contract of one A4 page. Source: ISO 32000-1 §7.5. */
export function sampleContract(): Buffer {
  const text = LINES.map(([size, line], index) => {
    return `BT /F1 ${size} Tf 60 ${TOP - index * LINE_HEIGHT} Td (${line}) Tj ET`;
  }).join('\n');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
  ];
  let file = '%PDF-1.7\n';
  const offsets = objects.map((body, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  file += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file, 'latin1');
}
