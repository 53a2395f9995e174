/** `/validate`: the form and the report work without a script; search and counts are those of all pages. */
import { showCounts } from '../counts.ts';
import { startSearch } from '../search.tsx';

startSearch();
void showCounts(false);
