import { CONTENTS } from '../../pdf/corpus.ts';
import { promiseForEach } from './corpus-verdicts.ts';

promiseForEach(CONTENTS);
