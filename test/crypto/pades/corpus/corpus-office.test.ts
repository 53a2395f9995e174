import { OFFICE_FILES } from '../../pdf/corpus-documents.ts';
import { promiseForEach } from './corpus-verdicts.ts';

promiseForEach(OFFICE_FILES);
