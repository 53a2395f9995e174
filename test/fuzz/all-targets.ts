/** Targets by name, with their frequency. */
import { containersOfFiles } from './asic-targets.ts';
import {
  answers,
  certificates,
  cmsAdding,
  cmsValidation,
  containers,
  crls,
  evidence,
  keys,
  ocsps,
  tokens,
} from './cms-targets.ts';
import { images, pdfAugmenting, pdfSigning, pdfValidation } from './pdf-targets.ts';
import type { TargetMaker } from './target.ts';
import { sheets } from './xlsx-target.ts';
import { xmlAdding, xmlCanonical, xmlSigning, xmlValidation } from './xml-targets.ts';

export const TARGETS = {
  pdf: { make: pdfValidation, weight: 12 },
  'pdf-sign': { make: pdfSigning, weight: 12 },
  'pdf-augment': { make: pdfAugmenting, weight: 1 },
  image: { make: images, weight: 4 },
  cms: { make: cmsValidation, weight: 12 },
  'cms-add': { make: cmsAdding, weight: 2 },
  xml: { make: xmlValidation, weight: 12 },
  'xml-sign': { make: xmlSigning, weight: 8 },
  'xml-add': { make: xmlAdding, weight: 2 },
  'xml-canonical': { make: xmlCanonical, weight: 8 },
  certificate: { make: certificates, weight: 6 },
  ocsp: { make: ocsps, weight: 6 },
  crl: { make: crls, weight: 6 },
  token: { make: tokens, weight: 4 },
  answer: { make: answers, weight: 3 },
  evidence: { make: evidence, weight: 3 },
  asic: { make: containersOfFiles, weight: 4 },
  pem: { make: keys, weight: 3 },
  pfx: { make: containers, weight: 2 },
  xlsx: { make: sheets, weight: 2 },
} as const satisfies Record<string, { readonly make: TargetMaker; readonly weight: number }>;

export type TargetName = keyof typeof TARGETS;

export function isTargetName(name: string): name is TargetName {
  return name in TARGETS;
}
