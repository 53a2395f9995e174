import { ENCRYPTED } from '../../pdf/corpus.ts';
import { promiseForEach } from './corpus-verdicts.ts';

promiseForEach(ENCRYPTED);
