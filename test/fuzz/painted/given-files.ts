/** First pages of PDFs in a folder, as documents that changes can be made on. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodyOf, signed } from '../../crypto/pades/validation/attack-files.ts';
import { appendRevision } from '../../crypto/pdf/build.ts';
import { runTool } from '../../verifiers/tool.ts';
import type { Page, Rectangle } from './changes.ts';

const CATALOG = 1;
/** Most words of a page that are used. */
const MAX_WORDS = 8;

/** Returns those whose first page has words, in an order that is not turned. Needs `qpdf` and `pdftotext`. */
export async function pagesOf(folder: string): Promise<readonly Page[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.pdf'));
  const pages = await Promise.all(files.sort().map((name) => pageOf(folder, name)));
  return pages.filter((page) => page !== undefined);
}

async function pageOf(folder: string, name: string): Promise<Page | undefined> {
  const own = mkdtempSync(join(tmpdir(), 'sealwright-given-'));
  try {
    const path = join(own, 'plain.pdf');
    // With classic cross-references, objects can be edited as text.
    const { exit } = await runTool('qpdf', ['--object-streams=disable', join(folder, name), path]);
    if (exit !== 0 && exit !== 3) return undefined;
    const listed = (await runTool('qpdf', ['--show-pages', path])).stdout;
    const number = Number(/page 1: (\d+) 0 R/.exec(listed)?.[1]);
    const { stdout } = await runTool('pdftotext', ['-bbox', '-f', '1', '-l', '1', path, '-']);
    const [, , height] = /<page width="([\d.]+)" height="([\d.]+)"/.exec(stdout) ?? [];
    const words = [
      ...stdout.matchAll(/<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">/g),
    ]
      .map((found) => found.slice(1).map(Number))
      .map(
        ([left = 0, top = 0, right = 0, bottom = 0]): Rectangle => [
          Math.round(left),
          Math.round(Number(height) - bottom),
          Math.round(right),
          Math.round(Number(height) - top),
        ],
      );
    const pdf = readFileSync(path);
    const page = bodyOf(pdf, number);
    const text = pdf.toString('latin1');
    if (words.length === 0 || /\/Rotate [1-9]/.test(page) || text.includes('/Encrypt')) return undefined;
    const info = /\/Info (\d+ 0 R)/.exec(text.slice(text.lastIndexOf('trailer')))?.[0] ?? '';
    const identifier = /\/ID \[.*?\]/s.exec(text.slice(text.lastIndexOf('trailer')))?.[0] ?? '';
    const free = Number(/\/Size (\d+)/.exec(text.slice(text.lastIndexOf('trailer')))?.[1]) + 100;
    const field = free - 50;
    const step = Math.max(1, Math.floor(words.length / MAX_WORDS));
    return {
      name,
      words: words.filter((_, index) => index % step === 0).slice(0, MAX_WORDS),
      blank: [20, 12, 140, 42],
      page: number,
      field,
      free,
      trailer: `${info} ${identifier}`,
      signed: (annotation, level) => {
        const catalog = bodyOf(pdf, CATALOG);
        const objects = new Map<number, string>();
        objects.set(
          number,
          withList(pdf, page, `/Annots [ ${annotation === undefined ? '' : `${field} 0 R `}`),
        );
        if (annotation !== undefined) {
          objects.set(field, annotation);
          // A form of the file would have to stay as it is: the field takes its place.
          const form = `/AcroForm << /Fields [${field} 0 R] /DA (/F1 0 Tf) /DR << /Font << /F1 ${field + 1} 0 R >> >> >>`;
          objects.set(field + 1, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
          objects.set(
            CATALOG,
            catalog.replace(/\/AcroForm (?:\d+ 0 R|<<.*?>>)/s, '').replace('<<', `<< ${form} `),
          );
        }
        return signed(
          appendRevision(pdf, objects, `${info} ${identifier}`),
          level === undefined ? {} : { certification: level },
        );
      },
    };
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Writes the list of annotations into the page, with this beginning. */
function withList(pdf: Buffer, page: string, start: string): string {
  const [old, number] = /\/Annots (\d+) 0 R/.exec(page) ?? [];
  if (old !== undefined) return page.replace(old, bodyOf(pdf, Number(number)).trim().replace('[', start));
  return page.includes('/Annots') ? page.replace(/\/Annots \[/, start) : page.replace('<<', `<< ${start}]`);
}
