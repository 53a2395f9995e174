import { STRUCTURES } from '../../pdf/corpus.ts';
import { promiseForEach } from './corpus-verdicts.ts';

promiseForEach(STRUCTURES);
