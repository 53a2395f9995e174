/**
 * Undoes predictors (ISO 32000-2, 7.4.4.4): TIFF 2 with whole bytes, and the PNG filters.
 */
import { PdfSyntaxError } from './damage.ts';

export interface Prediction {
  /** 2 for TIFF, 10 to 15 for PNG (each row then has its own filter). */
  readonly predictor: number;
  readonly colors: number;
  /** Bits per component. */
  readonly bits: number;
  /** Samples per row. */
  readonly columns: number;
}

/** Most bytes of a row of a structure stream. */
const MAX_ROW = 1 << 20;

export function unpredict(data: Buffer, prediction: Prediction): Buffer {
  const { predictor, colors, bits, columns } = prediction;
  const row = Math.ceil((colors * bits * columns) / 8);
  const pixel = Math.max(1, Math.ceil((colors * bits) / 8));
  if (!(row >= 1 && row <= MAX_ROW && colors >= 1 && bits >= 1)) {
    throw new PdfSyntaxError('A predictor has rows of an impossible size.');
  }
  if (predictor === 2) return undoTiff(data, row, pixel, bits);
  if (predictor >= 10 && predictor <= 15) return undoPng(data, row, pixel);
  throw new PdfSyntaxError(`The predictor ${predictor} is unknown.`);
}

function undoTiff(data: Buffer, row: number, pixel: number, bits: number): Buffer {
  if (bits !== 8)
    throw new PdfSyntaxError(`A TIFF predictor over ${bits} bits is not used in structure streams.`);
  const out = Buffer.from(data);
  for (let start = 0; start < out.length; start += row) {
    const end = Math.min(start + row, out.length);
    for (let at = start + pixel; at < end; at++) out[at] = (out[at] as number) + (out[at - pixel] as number);
  }
  return out;
}

/**
 * Decodes the PNG filters: each row begins with its filter byte; an incomplete last row is decoded as far as it goes.
 */
function undoPng(data: Buffer, row: number, pixel: number): Buffer {
  const rows = Math.ceil(data.length / (row + 1));
  const out = Buffer.alloc(Math.max(0, data.length - rows));
  for (let index = 0; index < rows; index++) {
    const source = index * (row + 1) + 1;
    const start = index * row;
    const end = Math.min(start + row, out.length);
    const filter = data[source - 1] as number;
    if (filter > 4) throw new PdfSyntaxError(`A row names the PNG filter ${filter}, which does not exist.`);
    for (let at = start; at < end; at++) {
      const left = at - start >= pixel ? (out[at - pixel] as number) : 0;
      const up = index > 0 ? (out[at - row] as number) : 0;
      const corner = index > 0 && at - start >= pixel ? (out[at - row - pixel] as number) : 0;
      out[at] = (data[source + at - start] as number) + predictedByte(filter, left, up, corner);
    }
  }
  return out;
}

function predictedByte(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const fromLeft = Math.abs(up - corner);
  const fromUp = Math.abs(left - corner);
  const fromCorner = Math.abs(left + up - 2 * corner);
  if (fromLeft <= fromUp && fromLeft <= fromCorner) return left;
  return fromUp <= fromCorner ? up : corner;
}
