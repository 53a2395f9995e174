/** `/validate`: the form and the report work without a script; this is the search of all pages. */
import { startSearch } from '../search.tsx';

startSearch();
