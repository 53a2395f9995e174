import { closeSync, openSync, writeSync } from 'node:fs';
import { classicPdf, documentObjects } from '../pdf/build.ts';
import { freshPath } from './validation/verdicts.ts';

/** A document with a stream of zeros in it, which take no room on the disk here. @param size bytes of the stream */
export function hugePdf(size: number): string {
  const body = `<< /Length ${size} >>\nstream\n\nendstream`;
  const text = classicPdf(new Map([[40, body], ...documentObjects()])).toString('latin1');
  const at = text.indexOf('\nendstream');
  const moved = (offset: number) => (offset > at ? offset + size : offset);
  const tail = text
    .slice(at)
    .replace(/\d{10}(?= 00000 n)/g, (offset) => String(moved(Number(offset))).padStart(10, '0'))
    .replace(/startxref\n(\d+)/, (_all, offset: string) => `startxref\n${moved(Number(offset))}`);
  const path = freshPath('huge.pdf');
  const fd = openSync(path, 'w');
  writeSync(fd, text.slice(0, at), 0, 'latin1');
  writeSync(fd, tail, at + size, 'latin1');
  closeSync(fd);
  return path;
}
