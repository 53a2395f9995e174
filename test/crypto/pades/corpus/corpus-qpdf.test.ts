import { THROUGH_QPDF } from '../../pdf/corpus.ts';
import { promiseForEach } from './corpus-verdicts.ts';

promiseForEach(THROUGH_QPDF);
