/** Folder of merged files, and their checks with other programs. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ComposedPdf, type ComposeRequest, composePdf } from '#crypto/pdf/pages/compose.js';
import { runTool } from '../../../verifiers/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-pages-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

let count = 0;

/** A path nothing has yet. */
export function freshPath(name = 'file.pdf'): string {
  return join(folder, `${++count}-${name}`);
}

export function put(bytes: Buffer): string {
  const path = freshPath();
  writeFileSync(path, bytes);
  return path;
}

export interface Composed extends ComposedPdf {
  readonly path: string;
}

export function compose(parts: ComposeRequest['parts'], more: Partial<ComposeRequest> = {}): Composed {
  const output = freshPath('composed.pdf');
  return { ...composePdf({ output, parts, title: 'Composed', at: 0, ...more }), path: output };
}

/** Returns a digest of the rendering of each page. */
export async function pictures(path: string, dotsPerInch = 36): Promise<readonly string[]> {
  const place = freshPath('pages');
  mkdirSync(place);
  await runTool('mutool', [
    'draw',
    '-q',
    '-F',
    'ppm',
    '-r',
    String(dotsPerInch),
    '-o',
    join(place, '%05d.ppm'),
    path,
  ]);
  const names = readdirSync(place).sort();
  return names.map((name) =>
    createHash('sha256')
      .update(readFileSync(join(place, name)))
      .digest('hex'),
  );
}

/** A line of text and where it is seen, in points from the top left corner of the page as shown. */
export interface SeenText {
  readonly page: number;
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export async function seenText(path: string): Promise<readonly SeenText[]> {
  const { stdout } = await runTool('mutool', ['draw', '-q', '-F', 'stext', path]);
  const lines = stdout.matchAll(/<page |<line bbox="([^"]+)"([\s\S]*?)<\/line>/g);
  let page = 0;
  const seen: SeenText[] = [];
  for (const [, box, body = ''] of lines) {
    if (box === undefined) {
      page++;
      continue;
    }
    const [left = 0, top = 0, right = 0, bottom = 0] = box.split(' ').map(Number);
    const text = [...body.matchAll(/ c="([^"]*)"/g)].map(([, letter = '']) => unescaped(letter)).join('');
    seen.push({ page, text, left, top, right, bottom });
  }
  return seen;
}

function unescaped(text: string): string {
  return text
    .replace(/&#x([0-9a-f]+);/g, (_all, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)))
    .replace(/&(lt|gt|quot|amp);/g, (_all, name: string) => ({ lt: '<', gt: '>', quot: '"' })[name] ?? '&');
}

/** The sentence `qpdf --check` has against a file; empty when it has none. */
export async function complaints(path: string): Promise<string> {
  const { exit, stdout, stderr } = await runTool('qpdf', ['--check', path]);
  return exit === 0 ? '' : `${stdout}${stderr}`;
}
