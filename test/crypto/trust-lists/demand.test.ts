/** Demands on qualifications: every word, certain or not, against every demand. */
import test from 'ava';
import type { SignatureWord } from '#crypto/core/validation-report.js';
import { unmetDemand } from '#crypto/qualification/demand.js';

const WORDS: { readonly [word in SignatureWord]: readonly string[] } = {
  QESig: ['QESig', 'AdESig-QC'],
  QESeal: ['QESeal', 'AdESeal-QC'],
  'AdESig-QC': ['AdESig-QC'],
  'AdESeal-QC': ['AdESeal-QC'],
  AdESig: [],
  AdESeal: [],
  AdES: [],
  Unknown: [],
  NotAdES: [],
};
const DEMANDS = ['QESig', 'QESeal', 'AdESig-QC', 'AdESeal-QC'] as const;

for (const demand of DEMANDS) {
  test(`${demand} is reached by what is that for certain, and by nothing else`, (t) => {
    for (const [name, reached] of Object.entries(WORDS))
      for (const isIndeterminate of [false, true]) {
        const word = name as SignatureWord;
        const reason = unmetDemand(demand, { word, isIndeterminate, reasons: ['Because.'] });
        const isMet = !isIndeterminate && reached.includes(demand);
        const shown = `${isIndeterminate ? 'INDETERMINATE-' : ''}${word}`;
        t.is(reason, isMet ? undefined : `${demand} is required, and this is ${shown}. Because.`);
      }
    t.is(unmetDemand(demand, undefined), `${demand} is required, and no trusted lists are configured.`);
  });
}
