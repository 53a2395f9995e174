/** `sealwright verify --independent`: the second implementation's verdict on a file, compared with the engine's. */
import { readFileSync, statSync } from 'node:fs';
import type { ValidationReport } from '@sealwright/signatures';
import type { CompareIndependently } from '@sealwright/signatures/command-line';
import {
  type Comparison,
  compareReports,
  MAX_COMPARED_BYTES,
  verifyIndependently,
} from '../../independent/index.ts';

/** @param at time of validation, milliseconds since the epoch */
export function compareIndependently(at: number): CompareIndependently {
  return async ({ format, signatures }: ValidationReport, path, content): Promise<Comparison> => {
    const paths = content === undefined ? [path] : [path, content];
    if (paths.reduce((sum, one) => sum + statSync(one).size, 0) > MAX_COMPARED_BYTES)
      return { verdict: 'not-comparable', details: [`The file is longer than ${MAX_COMPARED_BYTES} bytes.`] };
    const report = await verifyIndependently({
      format,
      bytes: readFileSync(path),
      ...(content !== undefined && { content: readFileSync(content) }),
      at,
    });
    return compareReports(signatures, report);
  };
}
