/** `/validate`: the form and the report work without a script, which shows the names of chosen files. */
import { DropZone } from '../../../components/drop-zone.tsx';
import { hydrateIslands } from '../../islands.tsx';
import { showCounts } from '../counts.ts';
import { startSearch } from '../search.tsx';

hydrateIslands({ drop: DropZone });
startSearch();
void showCounts(false);
