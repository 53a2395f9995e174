/** Generated benchmark inputs, equal on every machine. */
import { createHash } from 'node:crypto';

/** Generates incompressible bytes, equal on every machine. */
export function noise(length: number, seed: string): Buffer {
  const pieces: Buffer[] = [];
  for (let have = 0, count = 0; have < length; have += 32, count += 1) {
    pieces.push(createHash('sha256').update(`${seed}/${count}`).digest());
  }
  return Buffer.concat(pieces).subarray(0, length);
}

/**
 * Generates a PDF of `pages` pages with a text line each and a stream of `bytes` filler, a classic cross-reference
 * table and no form: the structure of a business document.
 */
export function samplePdf(bytes = 28_000, seed = 'pdf', pages = 1): Buffer {
  const text = Buffer.from('BT /F1 24 Tf 72 720 Td (A document of the benchmark) Tj ET');
  // Page and content of every further page take some 320 bytes.
  const filler = noise(Math.max(0, bytes - 900 - 320 * (pages - 1)), seed);
  const stream = (dictionary: string, content: Buffer) =>
    Buffer.concat([
      Buffer.from(`<< ${dictionary} /Length ${content.length} >>\nstream\n`),
      content,
      Buffer.from('\nendstream'),
    ]);
  const page = (contents: number): Buffer =>
    Buffer.from(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> /Contents ${contents} 0 R >>`,
    );
  // Objects 7 and 8 are the second page and its content, and so on.
  const further = Array.from({ length: pages - 1 }, (_, index) => 7 + 2 * index);
  const kids = [3, ...further].map((number) => `${number} 0 R`).join(' ');
  const bodies: readonly Buffer[] = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`),
    page(4),
    stream('', text),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
    stream('/Type /EmbeddedFile', filler),
    ...further.flatMap((number) => [page(number + 1), stream('', text)]),
  ];
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1')];
  const offsets: number[] = [];
  let at = pieces[0]?.length ?? 0;
  bodies.forEach((body, index) => {
    const piece = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')]);
    offsets.push(at);
    at += piece.length;
    pieces.push(piece);
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  pieces.push(
    Buffer.from(
      `xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(pieces);
}

/** Generates copies of one PDF that differ in eight bytes of their filler, so that no two have the same digest. */
export function uniquePdfs(bytes: number, seed: string): () => Buffer {
  const pdf = samplePdf(bytes, seed);
  const at = pdf.length >> 1;
  let count = 0;
  return () => {
    const copy = Buffer.from(pdf);
    copy.write(String(++count).padStart(8, '0'), at, 'latin1');
    return copy;
  };
}

/** Generates an XML document of about `bytes` bytes, in lines with a few elements each. */
export function sampleXml(bytes = 2000): Buffer {
  const lines: string[] = [];
  for (let line = 1, have = 200; have < bytes; line++) {
    const text = `\n  <inv:line number="${line}"><inv:text>Item &amp; more</inv:text><inv:price>12.50</inv:price></inv:line>`;
    lines.push(text);
    have += text.length;
  }
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<inv:invoice xmlns:inv="urn:example:invoice">${lines.join('')}\n</inv:invoice>\n`,
  );
}
